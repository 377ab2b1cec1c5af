//! `terraform-destroy`: destroying infrastructure by Terraform and its kin.

use crate::calls::report;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::tools::{self, ToolTable, tool};
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
        "npx cdk destroy --all --force", "terragrunt run --all destroy", "terraform -chdir=prod state rm module.db",
    ],
    passes: &[
        "terraform plan", "terraform plan -destroy", "terraform init", "terraform fmt", "pulumi preview", "cdk diff",
        "terraform state list", "terraform validate", "grep \"terraform destroy\" docs.md", "terraform show",
        "terraform apply plan.tfplan", "npx cdk synth", "pulumi stack ls", "terraform destroy -help",
        "terraform workspace list",
    ],
    watch: RuleTrigger::Tools(&TOOLS),
    judge,
};

const TOOLS: ToolTable = ToolTable {
    name: "terraform-destroy",
    tools: &[
        tool(
            &["terraform", "tofu", "terragrunt", "atmos", "opentofu", "tf"],
            &[
                ".. destroy|destroy-all !-help", ".. apply -destroy|-auto-approve",
                "state rm|push|replace-provider !-dry-run", "workspace delete", "force-unlock",
                ".. state rm !-dry-run",
            ],
        ),
        tool(
            &["pulumi"],
            &["destroy|down !--preview-only", "stack rm", "state delete", "up|update --yes|-y|--skip-preview"],
        ),
        tool(&["cdk", "cdktf", "aws-cdk", "cdktf-cli"], &["destroy"]),
    ],
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    if tools::calls(sight, &TOOLS) {
        report(sight, "This destroys or changes running infrastructure.", hits);
    }
}
