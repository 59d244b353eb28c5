import { type operations, pathOf } from '@custos/server/registry';
import { exampleBody } from '../../packages/server/src/reference/examples.ts';
import { code, fieldTable } from './markdown.ts';
import { methodName } from './names.ts';
import type { NameOf } from './typescript.ts';

type Operation = (typeof operations)[number];
type Activity = Extract<Operation, { kind: 'activity' }>;

/** Everything a caller needs to know of one operation. */
export function operationSection(operation: Operation, nameOf: NameOf): string[] {
  return [
    `## ${operation.name}`,
    operation.summary,
    facts(operation).join('\n'),
    '### Parameters',
    fieldTable(parametersOf(operation), nameOf),
    operation.kind === 'query' ? '### Answer' : '### Result',
    answerText(operation, nameOf),
    '### Example body',
    `\`\`\`json\n${JSON.stringify(exampleBody(operation), null, 2)}\n\`\`\``,
  ];
}

function facts(operation: Operation): string[] {
  return [
    `- Path: ${code(`POST ${pathOf(operation)}`)}`,
    `- SDK: ${code(`client.${methodName(operation.name)}(parameters)`)}`,
    ...(operation.kind === 'activity' ? typeFacts(operation) : []),
    ...(operation.kind === 'vote' ? [`- Type: ${code(operation.type)}`] : []),
    `- Largest body: ${operation.bodyLimit / 1024} KiB`,
    `- Who may run it: ${whoMay(operation)}`,
    ...(operation.kind === 'activity' ? [`- Where: ${whereOf(operation)}`, ...stampFacts(operation)] : []),
    ...(operation.kind === 'activity' ? secretFacts(operation) : []),
    ...(operation.ours ? ['- An addition of this service; the public SDKs do not know it.'] : []),
  ];
}

function typeFacts({ versions, unserved }: Activity): string[] {
  const [current, ...older] = versions.map(
    ({ type, intentKey, resultKey }) => `${code(type)} (intent ${code(intentKey)}, result ${code(resultKey)})`,
  );
  return [
    `- Type: ${current}`,
    ...(older.length > 0 ? ['- Older types, also accepted:', ...older.map((text) => `  - ${text}`)] : []),
    ...(unserved.length > 0 ? [`- Types that answer 501: ${unserved.map(code).join(', ')}`] : []),
  ];
}

const SCOPES: Readonly<Record<Activity['scope'], string>> = {
  any: 'any organization',
  parent: 'a parent organization only',
  'sub-organization': 'a sub-organization only',
};

function whereOf({ scope, parentRuns }: Activity): string {
  const extra = '; a parent runs it in its sub-organizations too, by its own users and policies';
  return parentRuns ? `${SCOPES[scope]}${extra}` : SCOPES[scope];
}

/** What other stamps than those of keys and passkeys serve. */
function stampFacts({ accepts }: Activity): string[] {
  return [
    ...(accepts.attested ? [`- Also with ${code('X-Stamp-Attested')}: a key that a token attests.`] : []),
    ...(accepts.recovery ? ['- Also with the key of a recovery mail, which serves nothing else.'] : []),
  ];
}

function whoMay(operation: Operation): string {
  switch (operation.kind) {
    case 'query':
      return operation.findsSubOrganization
        ? 'any user of the organization or of its parent; under a parent id also the user of the one sub-organization that holds the credential'
        : 'any user of the organization or of its parent';
    case 'vote':
      return operation.selection === 'VOTE_SELECTION_APPROVED'
        ? 'users whose approval the activity waits for'
        : 'users whose approval the activity waits for, and the user who proposed it';
    case 'activity': {
      if (operation.policy.governedBy === 'root-quorum') return 'the root quorum only; no policy reaches it';
      const { resource, action } = operation.policy;
      const own = operation.managesCredentialsOf === undefined ? '' : `; ${ownBusiness(operation)}`;
      return `the root quorum, and anyone whom a policy allows (resource ${code(resource)}, action ${code(action)})${own}`;
    }
  }
}

function ownBusiness({ name, findsSubOrganization }: Activity): string {
  if (name === 'recover_user') return 'a user with its own recovery key';
  if (!findsSubOrganization) return 'each user for its own credentials';
  return 'each user for itself, under a parent id also the user of the one sub-organization that holds the credential';
}

function secretFacts({ versions }: Activity): string[] {
  const list = (paths: readonly string[]): string =>
    [...new Set(paths)].map((path) => code(path.replaceAll('.*', '[]'))).join(', ');
  const secrets = list(versions.flatMap((version) => version.secrets));
  const results = list(versions.flatMap((version) => version.secretResults));
  return [
    ...(secrets === '' ? [] : [`- Stored and shown later only as a digest: ${secrets}`]),
    ...(results === ''
      ? []
      : [
          `- Only the credential that proposed it sees ${results}, [for a while](../guides/activities.md#results-that-are-secrets).`,
        ]),
  ];
}

function parametersOf(operation: Operation): unknown {
  return operation.kind === 'activity' ? operation.versions[0]?.schema : operation.schema;
}

function answerText(operation: Operation, nameOf: NameOf): string {
  switch (operation.kind) {
    case 'vote':
      return 'The answer is `{"activity"}` with the activity that was voted on, see [Activity](objects.md#activity).';
    case 'query':
      return fieldTable(operation.response, nameOf);
    case 'activity':
      return `In ${code(`activity.result.${operation.versions[0]?.resultKey}`)} once the activity is completed:\n\n${fieldTable(operation.result, nameOf)}`;
  }
}
