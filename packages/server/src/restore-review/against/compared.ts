import { hash } from 'node:crypto';
import { printableTime } from '../../lib/printable.ts';
import type { Row } from '../../storage/integrity/row.ts';
import type { Schema } from '../../storage/schema.ts';

/** What rows are about, or activities where a record of these is compared; it says what it means that one of them is missing or back. */
export type ComparedKind = 'activities' | 'quorum' | 'people' | 'credentials' | 'rules' | 'keys' | 'places';

/** How a value is shown. Of bytes it is only said that they are others. */
type Shown = 'text' | 'number' | 'flag' | 'time' | 'json' | 'bytes';

export interface ComparedColumn {
  readonly column: string;
  /** In words. */
  readonly called: string;
  readonly shown: Shown;
}

/** A table whose rows are compared with those of another database. */
export interface ComparedTable {
  readonly table: keyof Schema;
  readonly kind: ComparedKind;
  /** One row of it, in words. */
  readonly what: string;
  /** Columns that name a row for a person. */
  readonly names: readonly string[];
  /** Columns whose values are compared. */
  readonly columns: readonly ComparedColumn[];
  /** Parts of the types of activities that change it. */
  readonly activities: string;
  /** Whether a row means nothing any more. */
  isOver?(row: Row, nowMs: number): boolean;
}

const as =
  (shown: Shown) =>
  (name: string, called = name.replaceAll('_', ' ')): ComparedColumn => ({ column: name, called, shown });
const text = as('text');
const number = as('number');
const flag = as('flag');
const time = as('time');
const json = as('json');
const bytes = as('bytes');

const hasExpired = ({ expires_at_ms: atMs }: Row, nowMs: number): boolean => typeof atMs === 'number' && atMs <= nowMs;

/** In the order in which they are told. */
export const COMPARED: readonly ComparedTable[] = [
  {
    table: 'organization',
    kind: 'quorum',
    what: 'organization',
    names: ['name'],
    columns: [
      text('name'),
      text('parent_id', 'parent'),
      number('root_threshold', 'threshold of the root quorum'),
      json('root_user_ids', 'members of the root quorum'),
      time('deleted_at_ms', 'deletion'),
    ],
    activities: 'ORGANIZATION|ROOT_QUORUM',
  },
  {
    table: 'organization_feature',
    kind: 'rules',
    what: 'feature',
    names: ['name'],
    columns: [text('value')],
    activities: 'ORGANIZATION_FEATURE',
  },
  {
    table: 'app_user',
    kind: 'people',
    activities: 'USER|ORGANIZATION|INVITATION|CONTACT|VERIF',
    what: 'user',
    names: ['name'],
    columns: [text('name'), text('email'), flag('email_verified'), text('phone'), flag('phone_verified')],
  },
  {
    table: 'api_key',
    kind: 'credentials',
    activities: 'API_KEY|USER|SESSION|LOGIN|AUTH|ORGANIZATION|RECOVER|CREDENTIAL',
    what: 'API key',
    names: ['name', 'public_key'],
    columns: [
      text('user_id', 'user'),
      text('name'),
      text('type'),
      text('public_key'),
      text('session_profile_id', 'session profile'),
      time('expires_at_ms', 'expiry'),
    ],
    isOver: hasExpired,
  },
  {
    table: 'authenticator',
    kind: 'credentials',
    activities: 'AUTHENTICATOR|USER|RECOVER|ORGANIZATION|INVITATION',
    what: 'passkey',
    names: ['name', 'credential_id'],
    columns: [
      text('user_id', 'user'),
      text('name'),
      text('credential_id'),
      bytes('public_key'),
      bytes('rp_id_hash', 'site'),
    ],
  },
  {
    table: 'oauth_provider',
    kind: 'credentials',
    activities: 'OAUTH|USER|ORGANIZATION',
    what: 'OAuth provider',
    names: ['name', 'issuer', 'subject'],
    columns: [text('user_id', 'user'), text('name'), text('issuer'), text('audience'), text('subject')],
  },
  {
    table: 'read_session',
    kind: 'credentials',
    what: 'read-only session',
    names: ['user_id'],
    columns: [text('user_id', 'user'), time('expires_at_ms', 'expiry')],
    activities: 'READ_ONLY_SESSION',
    isOver: hasExpired,
  },
  {
    table: 'session_profile',
    kind: 'rules',
    activities: 'SESSION_PROFILE',
    what: 'session profile',
    names: ['name'],
    columns: [text('name'), text('scope'), number('expiration_seconds'), text('notes')],
  },
  {
    table: 'tag',
    kind: 'people',
    activities: 'TAG',
    what: 'tag',
    names: ['name'],
    columns: [text('name'), text('type')],
  },
  {
    table: 'user_tag',
    kind: 'people',
    activities: 'TAG|USER',
    what: 'tag of a user',
    names: ['user_id', 'tag_id'],
    columns: [],
  },
  {
    table: 'mfa_policy',
    kind: 'rules',
    activities: 'MFA|USER',
    what: 'MFA policy',
    names: ['name'],
    columns: [
      text('user_id', 'user'),
      text('name'),
      text('condition'),
      json('steps'),
      number('position'),
      text('notes'),
    ],
  },
  {
    table: 'policy',
    kind: 'rules',
    activities: 'POLIC',
    what: 'policy',
    names: ['name'],
    columns: [text('name'), text('effect'), text('condition'), text('consensus'), text('time'), text('notes')],
  },
  {
    table: 'velocity_control',
    kind: 'rules',
    activities: 'VELOCITY',
    what: 'velocity control',
    names: ['name'],
    columns: [text('name'), json('identifier'), json('data_source'), json('aggregation'), flag('refuse_uncounted')],
  },
  {
    table: 'ip_allowlist',
    kind: 'rules',
    what: 'IP allowlist',
    names: ['public_key'],
    columns: [flag('enabled'), text('on_evaluation_error'), json('rules')],
    activities: 'IP_ALLOWLIST',
  },
  {
    table: 'contract_interface',
    kind: 'rules',
    activities: 'CONTRACT_INTERFACE',
    what: 'contract interface',
    names: ['label', 'address'],
    columns: [text('type'), text('address'), json('definition'), text('label'), text('notes')],
  },
  {
    table: 'gas_usage_config',
    kind: 'rules',
    activities: 'GAS',
    what: 'limit of sponsored sends',
    names: [],
    columns: [
      text('tree_limit_usd', 'limit in US dollars'),
      text('sub_organization_limit_usd', 'limit of a sub-organization in US dollars'),
      number('window_minutes'),
      flag('is_enabled', 'in force'),
    ],
  },
  {
    table: 'wallet',
    kind: 'keys',
    activities: 'WALLET|ORGANIZATION',
    what: 'wallet',
    names: ['name'],
    columns: [text('name'), flag('exported'), flag('imported')],
  },
  {
    table: 'wallet_account',
    kind: 'keys',
    activities: 'WALLET|ORGANIZATION',
    what: 'wallet account',
    names: ['name', 'address'],
    columns: [
      text('wallet_id', 'wallet'),
      text('name'),
      text('curve'),
      text('path'),
      text('address_format'),
      text('address'),
      text('public_key'),
      flag('exported'),
    ],
  },
  {
    table: 'private_key',
    kind: 'keys',
    activities: 'PRIVATE_KEY',
    what: 'private key',
    names: ['name', 'public_key'],
    columns: [text('name'), text('curve'), text('public_key'), flag('exported'), flag('imported')],
  },
  {
    table: 'private_key_address',
    kind: 'keys',
    activities: 'PRIVATE_KEY',
    what: 'address of a private key',
    names: ['address'],
    columns: [text('address'), number('position')],
  },
  {
    table: 'private_key_tag',
    kind: 'keys',
    activities: 'TAG|PRIVATE_KEY',
    what: 'tag of a private key',
    names: ['private_key_id', 'tag_id'],
    columns: [],
  },
  {
    table: 'secret',
    kind: 'keys',
    activities: 'SECRET',
    what: 'secret',
    names: ['name'],
    columns: [text('name'), json('static_properties', 'properties')],
  },
  {
    table: 'chain_operator_key',
    kind: 'keys',
    activities: 'NONE',
    what: "operator's key",
    names: ['caip2', 'address'],
    columns: [text('public_key')],
  },
  {
    table: 'service_key',
    kind: 'keys',
    activities: 'NONE',
    what: 'service key',
    names: ['role'],
    columns: [text('public_key'), time('signs_from_ms', 'use from')],
  },
  {
    table: 'webhook_endpoint',
    kind: 'places',
    activities: 'WEBHOOK|FEATURE',
    what: 'webhook endpoint',
    names: ['name', 'url'],
    columns: [
      text('name'),
      text('url'),
      flag('is_active', 'active'),
      flag('includes_description'),
      json('subscriptions'),
    ],
  },
  {
    table: 'auth_proxy_config',
    kind: 'rules',
    what: 'sign-up proxy configuration',
    names: [],
    columns: [text('user_id', 'user'), text('public_key'), flag('enabled'), json('settings')],
    activities: 'AUTH_PROXY',
  },
  {
    table: 'oauth2_credential',
    kind: 'places',
    activities: 'OAUTH2',
    what: 'OAuth 2.0 credential',
    names: ['provider', 'client_id'],
    columns: [text('provider'), text('client_id'), text('encrypted_client_secret', 'client secret')],
  },
  {
    table: 'on_ramp_credential',
    kind: 'places',
    activities: 'ON_RAMP',
    what: 'on-ramp credential',
    names: ['provider'],
    columns: [text('provider'), text('project_id', 'project'), text('publishable_api_key'), flag('is_sandbox')],
  },
  {
    table: 'invitation',
    kind: 'people',
    activities: 'INVITATION',
    what: 'invitation',
    names: ['receiver_email'],
    columns: [
      text('receiver_user_name', 'name'),
      text('receiver_email', 'email'),
      json('receiver_user_tags', 'tags'),
      text('access_type'),
      text('status'),
      time('expires_at_ms', 'expiry'),
    ],
    isOver: hasExpired,
  },
  {
    table: 'earn_wrapper',
    kind: 'places',
    activities: 'EARN',
    what: 'wrapper of Earn',
    names: ['wrapper_address'],
    columns: [
      text('vault_address', 'vault'),
      number('client_fee_bps', 'fee'),
      text('client_fee_wallet', 'receiver of fees'),
      flag('deposits_disabled'),
    ],
  },
  {
    table: 'tvc_operator',
    kind: 'people',
    activities: 'TVC',
    what: 'deployment operator',
    names: ['name'],
    columns: [text('name'), text('sign_public_key'), text('encrypt_public_key'), text('key_source')],
  },
  {
    table: 'tvc_operator_set',
    kind: 'quorum',
    activities: 'TVC',
    what: 'deployment operator set',
    names: ['name'],
    columns: [text('name'), number('threshold'), json('operator_ids', 'operators')],
  },
  {
    table: 'tvc_app',
    kind: 'rules',
    activities: 'TVC',
    what: 'deployed app',
    names: ['name'],
    columns: [
      text('name'),
      text('quorum_public_key'),
      text('manifest_set_id', 'manifest set'),
      text('share_set_id', 'share set'),
      flag('enable_egress'),
      flag('enable_debug_mode'),
      text('live_deployment_id', 'live deployment'),
      time('deleted_at_ms', 'deletion'),
    ],
  },
  {
    table: 'tvc_deployment',
    kind: 'rules',
    activities: 'TVC',
    what: 'deployment',
    names: ['manifest_id'],
    columns: [
      text('app_id', 'app'),
      text('manifest'),
      number('replicas'),
      time('approved_at_ms', 'approval'),
      time('deleted_at_ms', 'deletion'),
    ],
  },
];

/** Tables of authority that are not compared, and why nobody misses them. */
export const NOT_COMPARED: Readonly<Record<string, string>> = {
  activity: 'the differences that activities made are told, with the activity',
  vote: 'a vote changes nothing but its activity',
  tree_entry: 'repeats what users, credentials and addresses say',
  used_token: 'what was issued before the restore is refused',
  recovery_kit: 'holds what only its recipients open, and another can be made',
  recovery_kit_piece: 'belongs to a recovery kit',
  restoration: 'says that this database was restored',
  mfa_requirement: 'belongs to an activity that waits',
  import_target: 'is good for minutes',
  otp: 'what was issued before the restore is refused',
  velocity_entry: 'windows keep the use that the backup has, unless the restore filled them',
  outbox_message: 'is sent or given up by itself',
  webhook_event: 'tells of what happened',
  webhook_delivery: 'tells of what happened',
  chain_send: 'the chain is asked itself',
  chain_lane: 'says which process works on sends',
  balance_cursor: 'blocks are read again',
  balance_block: 'blocks are read again',
  earn_request: 'says what its send says',
};

const LENGTH_MAX = 300;

/** A value for a person; null where there is none. */
export function shownValue({ shown }: ComparedColumn, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (shown === 'time') return printableTime(value);
  if (shown === 'flag') return Number(value) === 1 ? 'yes' : 'no';
  if (value instanceof Uint8Array)
    return `${value.length} bytes, SHA-256 ${hash('sha256', value, 'hex').slice(0, 16)}…`;
  const words = String(value);
  return words.length > LENGTH_MAX ? `${words.slice(0, LENGTH_MAX)}… (${words.length} characters)` : words;
}

/** Whether two values are the same, as two databases have them. */
export function isSameValue(one: unknown, other: unknown): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other) === 0;
  return (one ?? null) === (other ?? null);
}
