import { failure, memberOf, type WebhookFailure } from './result.ts';

/** `Headers`, pairs, or a record as Node's `request.headers`. Names in any case; of several values the first counts. */
export type WebhookHeaders =
  | Headers
  | Iterable<readonly [name: string, value: string | readonly string[] | undefined]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The headers of a delivery, all of which stand there. */
export interface DeliveryHeaders {
  readonly ok: true;
  readonly timestamp: string;
  readonly eventId: string;
  readonly keyId: string;
  readonly algorithm: string;
  readonly version: string;
  readonly signature: string;
  readonly eventType?: string;
  readonly organizationId?: string;
}

const HEADERS_MAX = 10_000;

/** The second one is for deliveries that carry the vendor's names alone. */
const FAMILIES = ['x-service-', 'x-turnkey-'] as const;
/** In the order in which they are looked for. */
const REQUIRED = [
  'timestamp',
  'event-id',
  'signature-key-id',
  'signature-algorithm',
  'signature-version',
  'signature',
] as const;
const UNSIGNED = ['event-type', 'organization-id'] as const;
const WANTED: ReadonlySet<string> = new Set(
  FAMILIES.flatMap((family) => [...REQUIRED, ...UNSIGNED].map((name) => family + name)),
);

export function readHeaders(headers: unknown): DeliveryHeaders | WebhookFailure {
  const values = collect(headers);
  if (values === undefined) return failure('invalid_headers');
  // One family as a whole: a delivery whose headers come from both was put together by somebody else.
  const family = FAMILIES.find((prefix) => REQUIRED.some((name) => values.has(prefix + name))) ?? FAMILIES[0];
  const missing = REQUIRED.find((name) => !values.get(family + name));
  if (missing !== undefined) return failure('missing_header', family + missing);
  const textOf = (name: string): string => values.get(family + name) ?? '';
  const eventType = textOf('event-type');
  const organizationId = textOf('organization-id');
  return {
    ok: true,
    timestamp: textOf('timestamp'),
    eventId: textOf('event-id'),
    keyId: textOf('signature-key-id'),
    algorithm: textOf('signature-algorithm'),
    version: textOf('signature-version'),
    signature: textOf('signature'),
    ...(eventType !== '' && { eventType }),
    ...(organizationId !== '' && { organizationId }),
  };
}

/** What concerns us, by lower-case name; undefined for what are no headers. */
function collect(headers: unknown): Map<string, string> | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const values = new Map<string, string>();
  try {
    const pairs = Symbol.iterator in headers ? (headers as Iterable<unknown>) : pairsOf(headers);
    let count = 0;
    for (const pair of pairs) {
      count += 1;
      if (count > HEADERS_MAX || !Array.isArray(pair) || typeof pair[0] !== 'string') return undefined;
      const name = pair[0].toLowerCase();
      if (!WANTED.has(name) || values.has(name)) continue;
      const value: unknown = Array.isArray(pair[1]) ? pair[1][0] : pair[1];
      if (typeof value === 'string') values.set(name, value);
    }
  } catch {
    return undefined;
  }
  return values;
}

function* pairsOf(record: object): Generator<[string, unknown]> {
  for (const name of Object.keys(record)) yield [name, memberOf(record, name)];
}
