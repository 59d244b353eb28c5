import { activityType } from '../catalog/activity-types.ts';

/** Kinds whose name alone is not how somebody says it. */
const SAID: Readonly<Record<string, string>> = {
  SIGN_TRANSACTION: 'sign a transaction',
  SIGN_RAW_PAYLOAD: 'sign a raw payload',
  SIGN_RAW_PAYLOADS: 'sign raw payloads',
  ETH_SEND_TRANSACTION: 'send an Ethereum transaction',
  ETH_SEND_RAW_TRANSACTION: 'send a signed Ethereum transaction',
  SOL_SEND_TRANSACTION: 'send a Solana transaction',
  CREATE_POLICY: 'create a policy',
  UPDATE_POLICY: 'change a policy',
  DELETE_POLICY: 'delete a policy',
  CREATE_WALLET: 'create a wallet',
  EXPORT_WALLET: 'export a wallet',
  IMPORT_WALLET: 'import a wallet',
  EXPORT_WALLET_ACCOUNT: 'export a wallet account',
  EXPORT_PRIVATE_KEY: 'export a private key',
  IMPORT_PRIVATE_KEY: 'import a private key',
  STAMP_LOGIN: 'log in with a stamp',
};

const SPELLED: Readonly<Record<string, string>> = {
  api: 'API',
  ip: 'IP',
  mfa: 'MFA',
  otp: 'OTP',
  oauth: 'OAuth',
  oauth2: 'OAuth 2',
  tvc: 'TVC',
  eth: 'Ethereum',
  sol: 'Solana',
};

export const sayName = (name: string): string =>
  name
    .toLowerCase()
    .split('_')
    .map((word) => SPELLED[word] ?? word)
    .join(' ');

export const sayKind = (kind: string): string => SAID[kind] ?? sayName(kind);

/** All versions of a type are one to its reader, except where the text names one. */
export function sayType(type: string): string {
  const facts = activityType(type);
  const [, version] = /_V([0-9]+)$/.exec(type) ?? [];
  const kind = facts?.governedBy === 'policy' ? facts.kind : type.replace(/^ACTIVITY_TYPE_|_V[0-9]+$/g, '');
  return `${sayKind(kind)}${version === undefined ? '' : `, version ${version}`}`;
}

/** Kinds whose transactions a condition on `eth.tx` and its like can read. */
export const SENDING_KINDS: ReadonlySet<string> = new Set([
  'SIGN_TRANSACTION',
  'ETH_SEND_TRANSACTION',
  'SOL_SEND_TRANSACTION',
  'ETH_SEND_RAW_TRANSACTION',
]);
