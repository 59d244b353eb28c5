import { chainName } from '../../chains/networks.ts';
import type { EventFacts } from '../../core/events.ts';
import { SEND_STATUSES } from '../../core/events.ts';
import { ACTIVITY_STATUSES } from '../../core/model.ts';
import { ApiError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { parseStrictJson } from '../../lib/strict-json.ts';
import { activityType } from '../../policy/index.ts';
import type { WebhookEventType } from './model.ts';

/** What filters can look at. */
export type FilterKey = keyof EventFacts;
type Filters = Readonly<Partial<Record<FilterKey, readonly string[]>>>;

const ITEMS_MAX = 100;

interface Values {
  readonly isKnown: (value: string) => boolean;
  readonly expected: string;
}

const oneOf = (values: readonly string[]): Values => ({
  isKnown: (value) => values.includes(value),
  expected: values.join(', '),
});
const ORGANIZATION_IDS: Values = { isKnown: isUuid, expected: 'ids of organizations' };
const CAIP2: Values = {
  isKnown: (value) => /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/.test(value),
  expected: 'chains such as eip155:1',
};
const ADDRESSES: Values = { isKnown: (value) => /^[\x21-\x7e]{1,200}$/.test(value), expected: 'addresses' };
const BALANCE_KEYS = { addresses: ADDRESSES, caip2: CAIP2, organizationIds: ORGANIZATION_IDS };

/** The keys of each event type with what may stand under them (protocol/webhooks 2.2). */
const KEYS: Readonly<Record<WebhookEventType, Readonly<Partial<Record<FilterKey, Values>>>>> = {
  ACTIVITY_UPDATES: {
    activityTypes: { isKnown: (value) => activityType(value) !== undefined, expected: 'activity types' },
    statuses: oneOf(ACTIVITY_STATUSES),
    organizationIds: ORGANIZATION_IDS,
  },
  BALANCE_CONFIRMED_UPDATES: BALANCE_KEYS,
  BALANCE_FINALIZED_UPDATES: BALANCE_KEYS,
  SEND_TRANSACTION_STATUS_UPDATES: { statuses: oneOf(SEND_STATUSES), caip2: CAIP2, organizationIds: ORGANIZATION_IDS },
};

/** Refuses filters that could never mean what somebody wanted: an event that is silently left out is a lost one. */
export function checkFilters(eventType: WebhookEventType, filtersJson: string, field: string): void {
  const refuse = (why: string): ApiError =>
    new ApiError('INVALID_WEBHOOK_FILTER', `${field} ${why}`, { violations: [{ field, description: why }] });
  let filters: unknown;
  try {
    // Of a key that is given twice one would silently count.
    filters = parseStrictJson(Buffer.from(filtersJson));
  } catch {
    throw refuse('must be a JSON object as text');
  }
  if (typeof filters !== 'object' || filters === null || Array.isArray(filters)) {
    throw refuse('must be a JSON object as text');
  }
  const known = KEYS[eventType];
  for (const [key, list] of Object.entries(filters)) {
    const values = Object.hasOwn(known, key) ? known[key as FilterKey] : undefined;
    if (values === undefined) {
      throw refuse(
        `has the key ${JSON.stringify(key.slice(0, 100))}; ${eventType} knows ${Object.keys(known).join(', ')}`,
      );
    }
    if (!Array.isArray(list) || list.length === 0 || list.length > ITEMS_MAX) {
      throw refuse(`must have a list of 1 to ${ITEMS_MAX} texts under ${key}`);
    }
    if (!list.every((value) => typeof value === 'string' && values.isKnown(value))) {
      throw refuse(`takes under ${key} only ${values.expected}`);
    }
  }
}

/** Whether an event passes filters that were checked when they were stored. */
export function passes(filtersJson: string | undefined, facts: EventFacts): boolean {
  if (filtersJson === undefined || filtersJson === '') return true;
  const filters = JSON.parse(filtersJson) as Filters;
  return (Object.keys(filters) as FilterKey[]).every((key) => {
    const value = facts[key];
    return value !== undefined && filters[key]?.some((wanted) => spelling(key, wanted) === spelling(key, value));
  });
}

/** The chains that filters name; undefined where they name none and so mean all. */
export const chainsOf = (filtersJson: string | undefined): readonly string[] | undefined =>
  filtersJson ? (JSON.parse(filtersJson) as Filters).caip2?.map(chainName) : undefined;

/** Ethereum's addresses are written with and without their checksum, and some chains have a second name. */
function spelling(key: FilterKey, value: string): string {
  if (key === 'caip2') return chainName(value);
  return key === 'addresses' && value.startsWith('0x') ? value.toLowerCase() : value;
}
