//! `aws-delete`: deleting in AWS.

use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "aws-delete",
    pack: Pack::Infrastructure,
    kind: RuleKind::Ask,
    title: "Deleting in AWS",
    doc: "Asks before something is deleted or terminated in AWS: `s3 rm --recursive`, `s3 rb`, `s3 sync \
          --delete`, and every operation that deletes, terminates or deregisters.",
    instead: "See what it would do: `aws s3 rm s3://bucket/logs --recursive --dryrun`.",
    denies: &[
        "aws s3 rm s3://bucket --recursive", "aws s3 rb s3://bucket --force",
        "aws ec2 terminate-instances --instance-ids i-1", "aws rds delete-db-instance --db-instance-identifier x",
        "aws --profile prod dynamodb delete-table --table-name t", "aws s3 sync . s3://b --delete",
        "aws cloudformation delete-stack --stack-name s", "aws s3api delete-bucket --bucket b", "sam delete",
        "eksctl delete cluster x",
    ],
    passes: &[
        "aws s3 ls", "aws s3 cp dist s3://bucket --recursive", "aws ec2 describe-instances",
        "aws s3 rm s3://bucket/one.txt", "aws s3 rm s3://b --recursive --dryrun", "aws sts get-caller-identity",
        "aws logs tail group",
    ],
    watch: RuleTrigger::Programs(&["aws", "awslocal", "sam", "eksctl", "ecs-cli", "eb", "s3cmd"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let call = Call::of(sight);
    if call.only_looks() {
        return;
    }
    let verb = call.word(1);
    let stopped = match sight.program() {
        "aws" if call.word(0) == "s3" => match verb {
            "rm" => call.flag("recursive"),
            "rb" => true,
            "sync" => call.flag("delete"),
            _ => false,
        },
        "aws" => ["delete-", "terminate-", "deregister-", "remove-", "purge-", "destroy-", "stop-instances", "reset-"]
            .iter()
            .any(|start| verb.starts_with(start)),
        "sam" | "eksctl" => call.word(0) == "delete",
        "eb" => call.word(0) == "terminate",
        "s3cmd" => {
            matches!(call.word(0), "rb")
                || (matches!(call.word(0), "del" | "rm") && (call.flag("recursive") || call.args.short('r')))
        }
        _ => false,
    };
    if stopped {
        report(sight, "This deletes something in the cloud.", hits);
    }
}
