import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { operations, pathOf } from '@custos/server/registry';
import { SETTINGS } from '../../packages/server/src/config/settings.ts';
import { proxyCalls, proxyPathOf } from '../../packages/server/src/domains/sign-up-proxy/calls.ts';
import { CODES_NEVER_SENT, ERROR_CODES } from '../../packages/server/src/lib/error-codes.ts';
import { ApiError, type ErrorCode } from '../../packages/server/src/lib/errors.ts';
import { toNode } from '../../packages/server/src/reference/schema-node.ts';
import { SHARED_SHAPES, sharedNameOf } from '../../packages/server/src/reference/shared-shapes.ts';
import {
  HARDWARE_QUERIES,
  UNSERVED_REASONS,
  WIRE_PROXY_CALLS,
  WIRE_QUERIES,
  WIRE_SUBMITS,
} from '../../packages/server/src/reference/wire-operations.ts';
import { addressFormatSections } from './address-formats-page.ts';
import { invitationSections } from './invitation-page.ts';
import { code, fieldTable, NOTICE, table, valueList } from './markdown.ts';
import { fileName } from './names.ts';
import { operationSection } from './operation-section.ts';
import { proxySections } from './proxy-page.ts';

type Operation = (typeof operations)[number];

const DOMAINS_FOLDER = new URL('../../packages/server/src/domains/', import.meta.url);

/** The pages of docs/reference by file name. */
export function referencePages(): Map<string, string> {
  const areas = operationsByArea();
  return new Map([
    ['README.md', indexPage(areas)],
    ...[...areas].map(([area, members]) => [`${area}.md`, areaPage(area, members)] as const),
    ['sign-up-proxy.md', page(...proxySections(sharedNameOf))],
    ['accepting-invitations.md', page(...invitationSections(sharedNameOf))],
    ['objects.md', objectsPage()],
    ['address-formats.md', page(...addressFormatSections())],
    ['errors.md', errorsPage()],
    ['settings.md', settingsPage()],
    ['not-served.md', notServedPage()],
  ]);
}

const page = (...blocks: readonly string[]): string => `${[NOTICE, ...blocks].join('\n\n')}\n`;

/** The page of a domain's operations where it is not named like the domain. */
const PAGE_NAMES: Record<string, string> = { 'sign-up-proxy': 'auth-proxy' };

/** An operation's area is the domain its file lies in. */
function operationsByArea(): Map<string, Operation[]> {
  const domains = readdirSync(DOMAINS_FOLDER);
  const areas = new Map<string, Operation[]>();
  for (const operation of [...operations].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = `operations/${fileName(operation.name)}.ts`;
    const domain = domains.find((name) => existsSync(fileURLToPath(new URL(`${name}/${file}`, DOMAINS_FOLDER))));
    if (domain === undefined) throw new Error(`no domain holds ${file}`);
    const area = PAGE_NAMES[domain] ?? domain;
    areas.set(area, [...(areas.get(area) ?? []), operation]);
  }
  return new Map([...areas].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const heading = (area: string): string => area.charAt(0).toUpperCase() + area.slice(1).replaceAll('-', ' ');

const KINDS = { activity: 'activity', vote: 'vote', query: 'query' } as const;

function operationList(area: string, members: readonly Operation[]): string {
  return table(
    ['Operation', 'Kind', 'What it does'],
    members.map(({ name, kind, summary }) => [`[${code(name)}](${area}.md#${name})`, KINDS[kind], summary]),
  );
}

function indexPage(areas: ReadonlyMap<string, readonly Operation[]>): string {
  return page(
    '# API reference',
    'Every request is a POST of JSON whose exact bytes are signed; the signature travels in the header `X-Stamp` (API keys), `X-Stamp-WebAuthn` (passkeys), `X-Stamp-Attested` (a key that a token attests, where an operation says so) or, for queries only, a session in `X-Session`. Unknown fields are ignored; `null` in an optional field means absent.',
    'An **activity** changes state. Its body is `{"type", "timestampMs", "organizationId", "parameters"}`, its answer `{"activity"}`; the same body sent again answers the same activity and runs nothing twice. A **vote** approves or rejects a pending activity. A **query** only reads: its parameters stand beside `organizationId` and it has no `type`.',
    'Every list takes `paginationOptions`; the cursors are ids of the list, and `pageInfo` says whether there is more.',
    ...[...areas].flatMap(([area, members]) => [`## [${heading(area)}](${area}.md)`, operationList(area, members)]),
    '## More',
    '- [Sign-up proxy](sign-up-proxy.md): calls without a stamp, for applications without a server of their own\n- [Accepting invitations](accepting-invitations.md): calls without a stamp, for people who are invited\n- [Objects](objects.md): shapes that several operations share\n- [Address formats](address-formats.md): every format, with its curve and usual path\n- [Errors](errors.md): every code, with its status\n- [Settings](settings.md): every environment variable\n- [Not served](not-served.md): operations of the wire protocol that answer 501',
  );
}

function areaPage(area: string, members: readonly Operation[]): string {
  return page(
    `# ${heading(area)}`,
    members.map(({ name, summary }) => `- [${code(name)}](#${name}): ${summary}`).join('\n'),
    ...members.flatMap((operation) => operationSection(operation, sharedNameOf)),
  );
}

function objectsPage(): string {
  const sections = Object.entries(SHARED_SHAPES).flatMap(([name, schema]) => {
    const { enum: values } = toNode(schema);
    const body = values === undefined ? fieldTable(schema, sharedNameOf) : valueList(values);
    return [`## ${name}`, body];
  });
  return page('# Objects', 'Shapes that several operations use, in parameters and in answers.', ...sections);
}

function errorsPage(): string {
  const codes = Object.keys(ERROR_CODES) as ErrorCode[];
  return page(
    '# Errors',
    'A refused request answers `{"code", "message", "details", "errorCode"}`. `errorCode` is the name below, `code` the number of its gRPC status. `details` holds one entry with the code again and, where single fields are at fault, one with `fieldViolations`: `[{"field", "description"}]`. In the SDK these are `error.code`, `error.grpcCode`, `error.httpStatus` and `error.violations`.',
    'An answer that is worth repeating carries `Retry-After`. Repeating the same body is always safe: it never runs twice.',
    table(
      ['Code', 'Status', 'gRPC', 'HTTP', 'Meaning'],
      codes.map((name) => {
        const { grpcCode, httpStatus } = new ApiError(name, '');
        const { status, meaning } = ERROR_CODES[name];
        return [code(name), status, String(grpcCode), String(httpStatus), meaning];
      }),
    ),
    '## Codes that Custos never sends',
    'The wire protocol knows these codes too. Their case does not exist here:',
    table(
      ['Code', 'Why not'],
      Object.entries(CODES_NEVER_SENT).map(([name, reason]) => [code(name), reason]),
    ),
  );
}

function settingsPage(): string {
  return page(
    '# Settings',
    'Environment variables only. An unknown name that begins with `CUSTOS_`, or a value that cannot be used, stops the start with one line.',
    settingsTable().trimEnd(),
  );
}

function settingsTable(): string {
  const rows = Object.values(SETTINGS).map(({ name, fallback, summary }) => [
    code(name),
    fallback === '' ? 'unset' : code(fallback),
    summary,
  ]);
  return `${table(['Name', 'Default', 'Meaning'], rows).trimEnd()}\n`;
}

/** Optional fields of the wire protocol that no answer has: their names, the operations, and why. */
const ABSENT_FIELDS: readonly (readonly [readonly string[], string, string])[] = [
  [
    ['forceDeallocatableLiquidity', 'forceDeallocatableLiquidityDisplay'],
    'list_earn_vaults, list_earn_enabled_vaults',
    'how much the adapters of a vault would give back by force no contract tells in one call',
  ],
  [['provisioningState'], 'get_app_status', 'an enclave has such a state, and this service runs none'],
  [
    ['deliveryDelayType'],
    'list_email_events',
    'why a mail server waits it tells in its own words, which are in `diagnosticCode` and `deliverySmtpResponse`',
  ],
];

function notServedPage(): string {
  const served = new Set([...operations.map(pathOf), ...proxyCalls.map(proxyPathOf)]);
  const list = (names: readonly string[], path: (name: string) => string): string => {
    const missing = names.filter((name) => !served.has(path(name)) && !HARDWARE_QUERIES.has(name));
    const reasonOf = (name: string): string => (UNSERVED_REASONS.has(name) ? `: ${UNSERVED_REASONS.get(name)}` : '');
    return missing.length === 0 ? 'None.' : missing.map((name) => `- ${code(path(name))}${reasonOf(name)}`).join('\n');
  };
  const types = operations.flatMap((operation) =>
    operation.kind === 'activity' ? operation.unserved.map((type) => `- ${code(type)} (${code(operation.name)})`) : [],
  );
  return page(
    '# Not served',
    'These parts of the wire protocol answer 501 with the code `UNIMPLEMENTED` and their name. They are not in openapi.json. Boot proofs (`get_boot_proof`, `get_latest_boot_proof`), which only special hardware can give, answer 404: this deployment is not attested.',
    '## Queries',
    list(WIRE_QUERIES, (name) => `/public/v1/query/${name}`),
    '## Activities',
    list(WIRE_SUBMITS, (name) => `/public/v1/submit/${name}`),
    '## Activity types of served operations',
    types.length === 0 ? 'None.' : types.sort().join('\n'),
    '## Sign-up proxy',
    list(WIRE_PROXY_CALLS, (name) => `/v1/${name}`),
    '## Fields that answers do not have',
    'They are optional in the wire protocol, and left out here because nothing that this service asks or keeps tells them.',
    ABSENT_FIELDS.map(([names, where, why]) => `- ${names.map(code).join(', ')} (${code(where)}): ${why}`).join('\n'),
  );
}
