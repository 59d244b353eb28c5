import type { DescribeContext, PrepareContext } from '../../engine/define.ts';
import { invalidField } from '../../lib/errors.ts';
import type { OnRampTransactionId } from '../../lib/ids.ts';
import { PrivateKeyReader } from '../wallets/store/private-keys.ts';
import { WalletReader } from '../wallets/store/wallets.ts';
import { coinbaseUrl, openSession } from './coinbase.ts';
import { type ServingCredential, servingCredential } from './credential.ts';
import { moonpayPage, moonpaySearch, parseWidgetUrl, signedUrl } from './moonpay.ts';
import type { Purchase } from './purchase.ts';

type PurchaseParameters = Purchase & { readonly sandboxMode?: boolean | undefined };

/** What a purchase is made with. */
interface PurchasePlan extends ServingCredential {
  /** The query of the application's own URL, which is to be signed too. */
  readonly searchToSign: string | undefined;
}

interface Begun {
  readonly id: OnRampTransactionId;
  readonly credentialId: string;
  readonly onRampUrl: string;
  readonly onRampUrlSignature: string | undefined;
}

export async function planPurchase(context: DescribeContext, purchase: PurchaseParameters): Promise<PurchasePlan> {
  const { read, actor, config } = context;
  const { onrampProvider: provider, sandboxMode: isSandbox = false, urlForSignature } = purchase;
  const serving = await servingCredential(read, actor.organization, { provider, isSandbox });
  if (urlForSignature === undefined) return { ...serving, searchToSign: undefined };
  const { publishableApiKey } = serving.credential;
  const { search, walletAddresses } = parseWidgetUrl(
    urlForSignature,
    publishableApiKey,
    moonpayPage(config, isSandbox),
  );
  for (const address of walletAddresses) await requireOwn(context, address);
  return { ...serving, searchToSign: search };
}

/** A link, with the id by which the provider is asked about it later. */
export async function beginPurchase(
  context: PrepareContext,
  purchase: PurchaseParameters,
  plan: PurchasePlan,
): Promise<Begun> {
  const id: OnRampTransactionId = context.newId();
  const link = purchase.onrampProvider === 'FIAT_ON_RAMP_PROVIDER_MOONPAY' ? moonpayLink : coinbaseLink;
  return { id, credentialId: plan.credential.id, ...(await link(context, purchase, plan, id)) };
}

type Link = Pick<Begun, 'onRampUrl' | 'onRampUrlSignature'>;

async function moonpayLink(
  { keyring, config }: PrepareContext,
  purchase: PurchaseParameters,
  { credential, holder, searchToSign }: PurchasePlan,
  id: string,
): Promise<Link> {
  const sign = (search: string) => keyring.signMoonpayQuery(holder, credential.sealedSecretKey, search);
  const search = moonpaySearch(purchase, credential.publishableApiKey, id);
  const page = moonpayPage(config, credential.isSandbox);
  return {
    onRampUrl: signedUrl(page, search, await sign(search)),
    onRampUrlSignature: searchToSign === undefined ? undefined : await sign(searchToSign),
  };
}

async function coinbaseLink(
  { keyring, config, nowMs, caller, actor, onRamp }: PrepareContext,
  purchase: PurchaseParameters,
  { credential, holder }: PurchasePlan,
  id: string,
): Promise<Link> {
  const access = { config, keyring, credential, holder, nowMs };
  const token = await onRamp.inTurn(actor.organizationId, () => openSession(access, purchase, caller.address));
  return {
    onRampUrl: coinbaseUrl(config, purchase, token, id, credential.isSandbox),
    onRampUrlSignature: undefined,
  };
}

/** Where a signature of ours would send money must be a wallet of the organization (protocol/on-ramp 2.3). */
async function requireOwn({ read, actor: { organizationId } }: DescribeContext, address: string): Promise<void> {
  const [account] = await read(WalletReader).accountsByAddress(organizationId, address);
  if (account !== undefined || (await read(PrivateKeyReader).byAddress(organizationId, address)) !== undefined) return;
  throw invalidField('parameters.urlForSignature', 'names a wallet address that is not one of this organization');
}
