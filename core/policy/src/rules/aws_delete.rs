//! `aws-delete`: deleting in AWS.

use crate::args::text;
use crate::calls::report;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::rules::http_delete::is_local;
use crate::tools::{self, ToolTable, tool};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "aws-delete",
    pack: Pack::Infrastructure,
    kind: RuleKind::Ask,
    title: "Deleting in AWS",
    doc: "Asks before something is deleted or terminated in AWS: `s3 rm --recursive`, `s3 rb`, `s3 sync --delete`, every \
          operation that deletes, terminates or deregisters, and services taken down to nothing. An endpoint on this \
          machine (LocalStack, MinIO) passes.",
    instead: "See what it would do: `aws s3 rm s3://bucket/logs --recursive --dryrun`.",
    denies: &[
        "aws s3 rm s3://bucket --recursive", "aws s3 rb s3://bucket --force",
        "aws ec2 terminate-instances --instance-ids i-1", "aws rds delete-db-instance --db-instance-identifier x",
        "aws --profile prod dynamodb delete-table --table-name t", "aws s3 sync . s3://b --delete",
        "aws cloudformation delete-stack --stack-name s", "aws s3api delete-bucket --bucket b", "sam delete",
        "eksctl delete cluster x", "aws kms schedule-key-deletion --key-id k",
        "aws ecr batch-delete-image --repository-name r", "aws ecs update-service --service web --desired-count 0",
        "s3cmd del -r s3://b/x", "aws logs delete-log-group --log-group-name g",
        "aws cognito-idp admin-delete-user --username x", "aws organizations close-account --account-id 1",
    ],
    passes: &[
        "aws s3 ls",
        "aws s3 cp dist s3://bucket --recursive",
        "aws ec2 describe-instances",
        "aws s3 rm s3://bucket/one.txt",
        "aws s3 rm s3://b --recursive --dryrun",
        "aws sts get-caller-identity",
        "aws s3 sync . s3://b",
        "sam build",
        "eb status",
        "aws ec2 terminate-instances help",
        "aws lambda list-functions",
        "aws --endpoint-url http://localhost:4566 s3 rb s3://test --force",
        "aws sqs delete-message --queue-url q",
        "awslocal s3 rb s3://test --force",
        "aws logs tail /aws/lambda/x",
        "aws ec2 delete-tags --resources i-1",
        "aws ecs update-service --service web --desired-count 2",
    ],
    watch: RuleTrigger::Tools(&TOOLS),
    judge,
};

const TOOLS: ToolTable = ToolTable {
    name: "aws-delete",
    tools: &[
        tool(
            &["aws"],
            &[
                "s3 rm --recursive",
                "s3 rb",
                "s3 sync --delete",
                "* delete-*|terminate-*|deregister-*|remove-*|purge-*|destroy-*|stop-instances|reset-*|batch-delete*",
                "* schedule-key-deletion|disable-key|close-account|leave-organization|release-address|force-delete-*|empty-*",
                "* admin-delete-*",
                "ecs update-service --desired-count=0",
                "autoscaling set-desired-capacity --desired-capacity=0",
            ],
        ),
        tool(&["sam", "eksctl"], &["delete"]),
        tool(&["eb"], &["terminate"]),
        tool(&["ecs-cli"], &["down", "compose service rm|down"]),
        tool(&["chalice"], &["delete"]),
        tool(&["zappa"], &["undeploy"]),
        tool(&["s3cmd"], &["rb", "del|rm --recursive|-r|-rf", "sync --delete-removed"]),
    ],
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    // Tags come back by tagging; a message that was worked on is deleted by whoever took it.
    let small = |word: &str| word.ends_with("-tags") || word.contains("-tags-") || word.starts_with("delete-message");
    let words = || sight.command.args().iter().map(text);
    let local = || words().any(|word| is_local(&word));
    if tools::calls(sight, &TOOLS) && !words().take(6).any(|word| small(&word)) && !local() {
        report(sight, "This deletes something in the cloud.", hits);
    }
}
