//! `terraform-destroy`: destroying infrastructure by Terraform and its kin.

use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "terraform-destroy",
    pack: Pack::Infrastructure,
    kind: RuleKind::Ask,
    title: "Destroying infrastructure by Terraform and its kin",
    doc: "Asks before Terraform, OpenTofu, Terragrunt, Pulumi or the CDK destroys resources, applies \
          without asking, or forgets state.",
    instead: "See the plan first: `terraform plan -out plan.tfplan`.",
    denies: &[
        "terraform destroy", "terraform apply -destroy", "terraform apply -auto-approve", "tofu destroy -auto-approve",
        "terraform -chdir=prod destroy", "terraform state rm aws_instance.a", "pulumi destroy --yes", "cdk destroy",
        "terragrunt run-all destroy", "terraform workspace delete prod", "pulumi stack rm dev", "pulumi up --yes",
    ],
    passes: &[
        "terraform plan", "terraform plan -destroy", "terraform init", "terraform fmt", "pulumi preview", "cdk diff",
        "terraform state list", "terraform validate", "grep \"terraform destroy\" docs.md", "terraform show",
    ],
    watch: RuleTrigger::Programs(&["terraform", "tofu", "terragrunt", "pulumi", "cdk", "cdktf"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let call =
        if sight.program() == "pulumi" || sight.program() == "cdk" { Call::of(sight) } else { Call::one_dash(sight) };
    if call.flag("help") {
        return;
    }
    let stopped = match sight.program() {
        "pulumi" => {
            call.word(0) == "destroy"
                || call.begins(&["stack", "rm"])
                || (matches!(call.word(0), "up" | "update") && (call.flag("yes") || call.args.short('y')))
        }
        "cdk" | "cdktf" => call.word(0) == "destroy",
        _ => {
            let applies = call.any(|word| word == "apply") && (call.flag("destroy") || call.flag("auto-approve"));
            let forgets = call.begins(&["state", "rm"])
                || call.begins(&["workspace", "delete"])
                || call.begins(&["state", "push"]);
            call.any(|word| word == "destroy") || applies || forgets
        }
    };
    if stopped {
        report(sight, "This destroys or changes running infrastructure.", hits);
    }
}
