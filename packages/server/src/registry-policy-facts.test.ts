import { describe, expect, test } from 'vitest';
import { namespacesOf, paramsOf } from './policy/catalog/activity-facts.ts';
import { type ActivityParams, activityType } from './policy/index.ts';
import { activities } from './registry.ts';

// A policy that names a kind, a parameter or a namespace must meet it in every version of every operation: one that
// never meets it would silently not apply.

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const UPPER = ID.toUpperCase();
const OTHER = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const POINT = '02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5';
const ADDRESS = `0x${'ab'.repeat(20)}`;
const OTHER_ADDRESS = `0x${'CD'.repeat(20)}`;
const P256 = '036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296';

interface Sample {
  /** As sent. */
  readonly parameters: unknown;
  readonly exposed: ActivityParams;
}

const raw = { encoding: 'PAYLOAD_ENCODING_TEXT_UTF8', hashFunction: 'HASH_FUNCTION_SHA256' };
const rawExposed = { encoding: 'PAYLOAD_ENCODING_TEXT_UTF8', hash_function: 'HASH_FUNCTION_SHA256' };
const transaction = { type: 'TRANSACTION_TYPE_TRON', unsignedTransaction: '00' };
const apiKey = { apiKeyName: 'k', publicKey: POINT, curveType: 'API_KEY_CURVE_SECP256K1' };
const target = { targetPublicKey: P256 };
const code = { otpType: 'OTP_TYPE_EMAIL', contact: 'user@example.com' };
const clientSignature = {
  publicKey: P256,
  scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256',
  message: '{}',
  signature: '00',
};

const SAMPLES: Readonly<Record<string, Sample>> = {
  ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2: { parameters: { signWith: 'a', payload: 'x', ...raw }, exposed: rawExposed },
  ACTIVITY_TYPE_SIGN_RAW_PAYLOAD: { parameters: { privateKeyId: ID, payload: 'x', ...raw }, exposed: rawExposed },
  ACTIVITY_TYPE_SIGN_RAW_PAYLOADS: { parameters: { signWith: 'a', payloads: ['x'], ...raw }, exposed: rawExposed },
  ACTIVITY_TYPE_SIGN_TRANSACTION_V2: {
    parameters: { signWith: 'a', ...transaction },
    exposed: { type: 'TRANSACTION_TYPE_TRON' },
  },
  ACTIVITY_TYPE_SIGN_TRANSACTION: {
    parameters: { privateKeyId: ID, ...transaction },
    exposed: { type: 'TRANSACTION_TYPE_TRON' },
  },
  ACTIVITY_TYPE_DELETE_USERS: { parameters: { userIds: [UPPER, OTHER] }, exposed: { user_ids: [ID, OTHER] } },
  ACTIVITY_TYPE_CREATE_API_KEYS_V2: { parameters: { userId: UPPER, apiKeys: [apiKey] }, exposed: { user_id: ID } },
  ACTIVITY_TYPE_CREATE_API_KEYS: {
    parameters: { userId: UPPER, apiKeys: [{ apiKeyName: 'k', publicKey: P256 }] },
    exposed: { user_id: ID },
  },
  ACTIVITY_TYPE_DELETE_API_KEYS: {
    parameters: { userId: UPPER, apiKeyIds: [OTHER] },
    exposed: { user_id: ID, api_key_ids: [OTHER] },
  },
  ACTIVITY_TYPE_EXPORT_WALLET: { parameters: { walletId: ID, ...target }, exposed: { target_public_key: P256 } },
  ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT: {
    parameters: { address: 'a', ...target },
    exposed: { target_public_key: P256 },
  },
  ACTIVITY_TYPE_EXPORT_PRIVATE_KEY: {
    parameters: { privateKeyId: ID, ...target },
    exposed: { target_public_key: P256 },
  },
  ACTIVITY_TYPE_UPDATE_WALLET: { parameters: { walletId: UPPER }, exposed: { wallet_id: ID } },
  ACTIVITY_TYPE_OAUTH_LOGIN: {
    parameters: { oidcToken: 't', publicKey: P256, sessionProfileId: OTHER },
    exposed: { session_profile_id: OTHER },
  },
  ACTIVITY_TYPE_STAMP_LOGIN: { parameters: { publicKey: P256 }, exposed: { session_profile_id: '' } },
  ACTIVITY_TYPE_OTP_LOGIN: {
    parameters: { verificationToken: 't', publicKey: P256, sessionProfileId: OTHER },
    exposed: { session_profile_id: OTHER },
  },
  ACTIVITY_TYPE_OTP_LOGIN_V2: {
    parameters: { verificationToken: 't', publicKey: P256, clientSignature },
    exposed: { session_profile_id: '' },
  },
  ACTIVITY_TYPE_INIT_OTP_AUTH: { parameters: code, exposed: {} },
  ACTIVITY_TYPE_INIT_OTP_AUTH_V2: { parameters: { ...code, otpLength: 6 }, exposed: { otp_length: 6n } },
  ACTIVITY_TYPE_INIT_OTP_AUTH_V3: { parameters: { ...code, appName: 'App' }, exposed: { otp_length: 0n } },
  ACTIVITY_TYPE_EARN_DEPLOY_WRAPPER: {
    parameters: { vaultAddress: ADDRESS, chainCaip2: 'eip155:1', clientFeeBps: '4000', clientFeeWallet: OTHER_ADDRESS },
    exposed: {
      vault_address: ADDRESS,
      chain_caip2: 'eip155:1',
      client_fee_bps: 4000n,
      client_fee_wallet: OTHER_ADDRESS,
    },
  },
  ACTIVITY_TYPE_EARN_DEPOSIT: {
    parameters: {
      wrapperAddress: ADDRESS,
      signWith: OTHER_ADDRESS,
      assets: '7',
      chainCaip2: 'eip155:1',
      sponsor: true,
    },
    exposed: {
      wrapper_address: ADDRESS,
      sign_with: OTHER_ADDRESS,
      assets: 7n,
      chain_caip2: 'eip155:1',
      sponsor: true,
    },
  },
  ACTIVITY_TYPE_EARN_WITHDRAW: {
    parameters: { wrapperAddress: ADDRESS, signWith: OTHER_ADDRESS, amountValue: 'MAX', chainCaip2: 'eip155:1' },
    exposed: {
      wrapper_address: ADDRESS,
      sign_with: OTHER_ADDRESS,
      amount_value: 'MAX',
      chain_caip2: 'eip155:1',
      sponsor: false,
    },
  },
  ACTIVITY_TYPE_EARN_SET_WRAPPER_STATE: {
    parameters: { wrapperAddress: ADDRESS, depositsDisabled: true },
    exposed: { wrapper_address: ADDRESS, deposits_disabled: true },
  },
  ACTIVITY_TYPE_CLAIM_EARN_FEES: { parameters: { wrapperAddress: ADDRESS }, exposed: { wrapper_address: ADDRESS } },
  ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT: {
    parameters: { endpointId: UPPER, isActive: false },
    exposed: { endpoint_id: ID },
  },
  ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT: { parameters: { endpointId: UPPER }, exposed: { endpoint_id: ID } },
  ACTIVITY_TYPE_TEST_WEBHOOK_ENDPOINT: { parameters: { endpointId: UPPER }, exposed: { endpoint_id: ID } },
  ACTIVITY_TYPE_REPLAY_WEBHOOK_DELIVERY: {
    parameters: { endpointId: UPPER, deliveryId: OTHER },
    exposed: { endpoint_id: ID },
  },
};

const versions = activities.flatMap((operation) =>
  operation.versions.map((version) => [version.type, operation, version] as const),
);

/** The type without its version; the name of a path may differ from it. */
const kindOf = (type: string): string => type.replace(/^ACTIVITY_TYPE_/, '').replace(/_V[0-9]+$/, '');

describe('every type that is served', () => {
  test.each(versions)('%s is what the catalog of the policy language says', (type, operation) => {
    const known = activityType(type);
    if (operation.policy.governedBy === 'root-quorum') {
      expect(known).toEqual({ governedBy: 'rootQuorum', type });
      return;
    }
    const { resource, action } = operation.policy;
    expect(known).toEqual({ governedBy: 'policy', type, kind: kindOf(type), resource, action });
  });

  test.each(versions)('%s shows the parameters that the catalog says', (type, operation, version) => {
    const listed = paramsOf(type, kindOf(type));
    const sample = SAMPLES[type];
    if (sample === undefined) {
      expect(listed, 'add a sample').toEqual([]);
      expect(operation.exposes).toBeUndefined();
      return;
    }
    expect(Object.keys(sample.exposed)).toEqual(expect.arrayContaining([...listed]));
    expect(Object.keys(sample.exposed)).toHaveLength(listed.length);
    expect(operation.exposes?.(version.decode(sample.parameters))).toEqual(sample.exposed);
  });

  test.each(versions)('%s has facts if the catalog gives it a namespace', (type, operation) => {
    const [alternative = []] = namespacesOf(kindOf(type));
    expect(operation.facts !== undefined).toBe(alternative.length > 0);
  });

  test('the samples are of served types', () => {
    const served = new Set(versions.map(([type]) => type));
    expect(Object.keys(SAMPLES).filter((type) => !served.has(type))).toEqual([]);
  });
});

test('what counts against limits has a wallet, is a signature, or is sent', () => {
  const counted = activities.filter((operation) => operation.movements).map((operation) => operation.name);
  expect(counted.sort()).toEqual([
    'claim_earn_fees',
    'create_wallet_accounts',
    'earn_deposit',
    'earn_withdraw',
    'eth_send_raw_transaction',
    'eth_send_transaction',
    'export_wallet',
    'export_wallet_account',
    'sign_raw_payload',
    'sign_raw_payloads',
    'sign_transaction',
    'sol_send_transaction',
    'update_wallet',
  ]);
});
