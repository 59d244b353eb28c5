import { type Build, byRoot, fresh } from './case.ts';
import { newOnRampCredential, onRampContent, onRampParams, purchaseParams } from './on-ramp.ts';
import type { Tenant } from './world.ts';

/** A credential that may be spoiled; only parents have any. */
const newCredential = async (tenant: Tenant): Promise<string> =>
  tenant.scope === 'parent' ? await newOnRampCredential(tenant.root, fresh(tenant)) : tenant.ids.onRampCredential;

export const ON_RAMP_CASES: Readonly<Record<string, Build>> = {
  create_fiat_on_ramp_credential: byRoot((tenant) => onRampParams(tenant.root, fresh(tenant))),
  update_fiat_on_ramp_credential: byRoot(async (tenant) => ({
    fiatOnrampCredentialId: await newCredential(tenant),
    ...(await onRampContent(tenant.root, fresh(tenant))),
  })),
  delete_fiat_on_ramp_credential: byRoot(async (tenant) => ({ fiatOnrampCredentialId: await newCredential(tenant) })),
  init_fiat_on_ramp: byRoot(() => purchaseParams()),
  list_fiat_on_ramp_credentials: byRoot(() => ({})),
  get_onramp_transaction_status: byRoot(({ ids }) => ({ transactionId: ids.onRampTransaction, refresh: true })),
};
