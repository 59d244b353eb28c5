// protocol/policy-facts 2: which parameters which activity exposes.
import { ACTIVITY_FACTS } from '../reference/activity-table.ts';

interface GovernedActivity {
  readonly type: string;
  readonly kind: string;
  readonly resource: string;
  readonly action: string;
  readonly params: readonly string[];
}

const EXPOSED: readonly (readonly [type: RegExp, params: readonly string[]])[] = [
  [/^SIGN_RAW_PAYLOAD(_V2|S)?$/, ['hash_function', 'encoding']],
  [/^SIGN_TRANSACTION_V2$/, ['type']],
  [/^DELETE_USERS$/, ['user_ids']],
  [/^CREATE_API_KEYS(_V2)?$/, ['user_id']],
  [/^DELETE_API_KEYS$/, ['user_id', 'api_key_ids']],
  [/^EXPORT_(WALLET|WALLET_ACCOUNT|PRIVATE_KEY)$/, ['target_public_key']],
  [/^UPDATE_WALLET$/, ['wallet_id']],
  [/^INIT_OTP_AUTH_V[23]$/, ['otp_length']],
  [/^(OTP_LOGIN(_V2)?|STAMP_LOGIN|OAUTH_LOGIN)$/, ['session_profile_id']],
  [/^(UPDATE|DELETE|TEST)_WEBHOOK_ENDPOINT$/, ['endpoint_id']],
  [/^REPLAY_WEBHOOK_DELIVERY$/, ['endpoint_id']],
  [/^SPARK_SIGN_FROST$/, ['sign_with', 'signatures']],
  [/^SPARK_PREPARE_TRANSFER$/, ['sign_with', 'transfer']],
  [/^SPARK_CLAIM_TRANSFER$/, ['sign_with', 'claim']],
  [/^SPARK_PREPARE_LIGHTNING_RECEIVE$/, ['sign_with', 'lightning_receive']],
  [/^EARN_DEPLOY_WRAPPER$/, ['vault_address', 'chain_caip2', 'client_fee_bps', 'client_fee_wallet']],
  [/^EARN_DEPOSIT$/, ['wrapper_address', 'sign_with', 'assets', 'chain_caip2', 'sponsor']],
  [/^EARN_WITHDRAW$/, ['wrapper_address', 'sign_with', 'amount_value', 'chain_caip2', 'sponsor']],
  [/^EARN_SET_WRAPPER_STATE$/, ['wrapper_address', 'deposits_disabled']],
  [/^CLAIM_EARN_FEES$/, ['wrapper_address']],
];

/** Every activity that policies govern. */
export const GOVERNED_ACTIVITIES: readonly GovernedActivity[] = [...ACTIVITY_FACTS].flatMap(([type, facts]) => {
  if (facts.governedBy !== 'policy') return [];
  const { kind, resource, action } = facts;
  return [{ type, kind, resource, action, params: paramsOf(type.replace('ACTIVITY_TYPE_', '')) }];
});

function paramsOf(name: string): readonly string[] {
  return EXPOSED.find(([pattern]) => pattern.test(name))?.[1] ?? [];
}
