import type { operations } from '@custos/server/registry';
import { isRequired, type SchemaNode, toNode } from './schema.ts';

type Operation = (typeof operations)[number];

const ORGANIZATION_ID = '0195d1f0-7b3a-7c4e-9d2b-3f5a6c7d8e9f';
const TIMESTAMP_MS = '1767225600000';

const OPERATORS = [
  { name: 'Alice', publicKey: '02a1633cafcc01ebfb6d78e39f687a1f0995c62fc95f51ead10a02ee0be551b5dc' },
  { name: 'Bob', publicKey: '036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296' },
];

/** Values that read better, or mean more, than what a schema alone can suggest. */
const VALUES: Readonly<Record<string, unknown>> = {
  address: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  allowedAuthMethods: ['email', 'passkey'],
  allowedOrigins: ['https://app.example'],
  activityId: '0195d1f0-91c2-7a05-8a6e-0c1d2e3f4a5b',
  amountValue: 'MAX',
  any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }],
  apiKeyName: 'Laptop',
  appName: 'Example App',
  assets: '1000000',
  attestationObject: 'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YV…',
  authCode: 'SplxlOBeZQQYbYS6WxSbIA',
  authenticatorName: 'Phone',
  caip19: 'eip155:1/slip44:60',
  caip2: 'eip155:1',
  calls: [{ to: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', value: '1000000000000000' }],
  chainCaip2: 'eip155:1',
  challenge: 'n2J5Y3hHd0t4VnVQZ1FzS3ZqY1RqZw',
  cidr: '203.0.113.0/24',
  clientDataJson: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoi…',
  clientFeeBps: '1000',
  clientFeeWallet: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  clientId: 'end-user-app',
  codeVerifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  condition: "activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'",
  consensus: "approvers.any(user, user.tags.contains('0195d1f0-8e11-7f3c-b0a4-5d6e7f8091a2'))",
  contact: 'alice@example.com',
  credentialId: '6kHtPPqRTKaLms_L0xFKpw',
  cryptoCurrencyCode: 'FIAT_ON_RAMP_CRYPTO_CURRENCY_ETH',
  decimals: '18',
  deliveryId: '0195d1f0-9f40-7b21-9c3d-4e5f60718293',
  depositsDisabled: true,
  duration: '24h',
  email: 'alice@example.com',
  encryptedBundle: '{"encappedPublic":"04…","ciphertext":"…"}',
  encryptedClientSecret: '000102030405060708090a0b04…',
  encryptedSecretApiKey: '7it7GVpm8XQdzPTUSJxcp1WKkvGYJh621BF2jG5RhckFRtyM2…',
  encryptedOtpBundle: '{"encappedPublic":"04…","ciphertext":"…"}',
  encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
  expectedPivotDigest: '9c4156ac1d5c5b6e7c6bbb4d9a9bbf3c3ef3b8a3c6f0b6a5d4e3f2a1b0c9d8e7',
  fiatCurrencyAmount: '100',
  fiatCurrencyCode: 'FIAT_ON_RAMP_CURRENCY_EUR',
  from: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  hashFunction: 'HASH_FUNCTION_KECCAK256',
  healthCheckPort: 3000,
  identifier: 'ether-per-day',
  isActive: false,
  label: 'Office',
  limit: '10',
  manifestSetParams: { name: 'Approvers', newOperators: OPERATORS, threshold: 1 },
  message: '{"login":{"publicKey":"02a1…"},"tokenId":"0195d1f0-…","type":"USAGE_TYPE_LOGIN"}',
  mfaPolicyName: 'Passkey for signing',
  name: 'Payments',
  network: 'FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_ETHEREUM',
  newPrivateKeyTagName: 'Cold',
  newUserTagName: 'Approvers',
  nonce: '0a165a794dc53eface39a67928b608c28ca9e1ccf08e2fdbcf20ce865a1107ae',
  notes: 'Agreed in March',
  oidcToken: 'eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJodHRw…',
  onrampProvider: 'FIAT_ON_RAMP_PROVIDER_MOONPAY',
  operatorName: 'Alice',
  organizationId: ORGANIZATION_ID,
  organizationName: 'Treasury',
  orgWindowLimitUsd: '50',
  otpCode: '4F7KQ2M9X',
  path: "m/44'/60'/0'/0/0",
  payload: 'Hello',
  pivotArgs: ['--port', '3000'],
  pivotContainerImageUrl: 'registry.example/price-feed@sha256:5f2b…',
  pivotPath: '/price-feed',
  policyCondition: "activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'",
  policyName: 'Treasury payments',
  privateKeyName: 'Treasury key',
  privateKeyTagName: 'Cold',
  providerName: 'Company login',
  publicKey: '02a1633cafcc01ebfb6d78e39f687a1f0995c62fc95f51ead10a02ee0be551b5dc',
  publicIngressPort: 3000,
  publishableApiKey: 'pk_test_6pF0aKdR2yTz',
  qosVersion: '0.15.0',
  quorumPublicKey: '02a1633cafcc01ebfb6d78e39f687a1f0995c62fc95f51ead10a02ee0be551b5dc',
  receiverUserEmail: 'bob@example.com',
  receiverUserName: 'Bob',
  redirectUri: 'https://app.example/callback',
  request: {
    type: 'ACTIVITY_TYPE_UPDATE_WALLET',
    parameters: { walletId: '0195d1f0-8e11-7f3c-b0a4-5d6e7f8091a2', walletName: 'Treasury' },
  },
  rootQuorumThreshold: 1,
  scope: "activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'",
  secretPayload: '{"encappedPublic":"04…","ciphertext":"…"}',
  sessionProfileName: 'Sign only',
  shareSetParams: { name: 'Share holders', newOperators: OPERATORS, threshold: 2 },
  signWith: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  signature: '5b0c8e…',
  smartContractAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  smartContractInterface:
    '[{"type":"function","name":"transfer","inputs":[{"name":"to","type":"address"},{"name":"value","type":"uint256"}]}]',
  subOrganizationName: 'End user 42',
  subOrgWindowLimitUsd: '0.50',
  subscriptions: [{ eventType: 'ACTIVITY_UPDATES', filtersJson: '{"statuses":["ACTIVITY_STATUS_COMPLETED"]}' }],
  targetPublicKey: '02a1633cafcc01ebfb6d78e39f687a1f0995c62fc95f51ead10a02ee0be551b5dc',
  threshold: 1,
  unsignedTransaction: '02e70180843b9aca008477359400825208949858effd232b4033e47d90003d41ec34ecaeda940180c0',
  url: 'https://app.example/webhooks',
  userEmail: 'alice@example.com',
  userName: 'Alice',
  userPhoneNumber: '+14155550123',
  userTagName: 'Approvers',
  value: 'true',
  vaultAddress: '0xBEEF01735c132Ada46AA9aA4c54623cAA92A64CB',
  verificationToken: 'eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJpZCI6…',
  walletAddress: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  walletName: 'Treasury',
  windowDurationMinutes: '1440',
  wrapperAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
};

/** Values of one operation, where others have the same names for something else. */
const VALUES_OF: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  eth_send_raw_transaction: {
    signedTransaction:
      '0x02f8720180843b9aca008506fc23ac00825208945aaeb6053f3e94c9b9a09f33669435e7ef1beaed87038d7ea4c6800080c001a02a512fe8ee4d4fef256d5a7e7a73699d3a44383026913467506fb8f05e593e12a023e3857f16d39be3e05cee5c5f17b53baf9fa55f220bc7e9d50dcc8a81091cb9',
  },
  list_earn_vaults: { caip19: 'eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48' },
  sol_send_transaction: {
    unsignedTransaction: '0100000000000000000000000000000000000000000000000000000000000000…',
    caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    signWiths: ['HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk'],
  },
};

/** Optional fields without which an example would say little. */
const TELLING: readonly string[] = [
  'allowedAuthMethods',
  'allowedOrigins',
  'apiKeys',
  'chainAssetTransfer',
  'condition',
  'consensus',
  'deliveryId',
  'enabled',
  'endpointId',
  'fiatCurrencyAmount',
  'fiatCurrencyCode',
  'isActive',
  'limit',
  'manifestSetParams',
  'oidcToken',
  'organization',
  'paginationOptions',
  'policyCondition',
  'refresh',
  'rolling',
  'rules',
  'shareSetParams',
  'sandboxMode',
  'subscriptions',
  'walletName',
];

/** A body that the operation accepts; throws if it does not, so that no page shows one that fails. */
export function exampleBody(operation: Operation): unknown {
  if (operation.kind === 'query') {
    const body = { ...(exampleOf(toNode(operation.schema)) as object), ...VALUES_OF[operation.name] };
    operation.decode(body);
    return body;
  }
  const [version] = operation.kind === 'activity' ? operation.versions : [operation];
  if (version === undefined) throw new Error(`${operation.name} has no version`);
  const parameters = { ...(exampleOf(toNode(version.schema)) as object), ...VALUES_OF[operation.name] };
  version.decode(parameters);
  return { type: version.type, timestampMs: TIMESTAMP_MS, organizationId: ORGANIZATION_ID, parameters };
}

/** Required fields, and the telling ones of the others. */
function exampleOf(node: SchemaNode, name = ''): unknown {
  const isTold = Object.hasOwn(VALUES, name) && (node.enum?.includes(VALUES[name] as string) ?? true);
  if (isTold) return node['x-decimal'] ? String(VALUES[name]) : VALUES[name];
  if (node.enum !== undefined) return node.enum[0];
  switch (node.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(node.properties ?? {})
          .filter(([key]) => isRequired(node, key) || TELLING.includes(key))
          .map(([key, property]) => [key, exampleOf(toNode(property), key)]),
      );
    case 'array': {
      const isEmpty = (node.minItems ?? 0) === 0 && !TELLING.includes(name);
      return isEmpty ? [] : [exampleOf(toNode(node.items ?? {}), name.replace(/s$/, ''))];
    }
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return node.minimum ?? 1;
    default:
      return exampleText(node, name);
  }
}

function exampleText(node: SchemaNode, name: string): string {
  if (node.pattern?.startsWith('^sha256:')) return `sha256:${'0123456789abcdef'.repeat(4)}`;
  if (/Ids?$/.test(name)) return '0195d1f0-8e11-7f3c-b0a4-5d6e7f8091a2';
  if (node['x-decimal']) return '3600';
  return 'text';
}
