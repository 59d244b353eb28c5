import Type from 'typebox';
import { partyPart } from '../../../describe/chains/parties.ts';
import { toWords } from '../../../describe/fields.ts';
import { say, strong } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { beginPurchase, planPurchase } from '../begin-purchase.ts';
import { providerName } from '../provider-name.ts';
import { checkPurchase } from '../purchase.ts';
import { PurchaseShape } from '../shapes.ts';
import { OnRampStore } from '../store.ts';

export const initFiatOnRamp = defineActivity({
  name: 'init_fiat_on_ramp',
  type: 'ACTIVITY_TYPE_INIT_FIAT_ON_RAMP',
  summary: 'Make a link to the page of an on-ramp provider, on which somebody buys crypto currency into a wallet.',
  waitsOutside: true,
  policy: { governedBy: 'policy', resource: 'FIAT_TRANSACTION', action: 'CREATE' },
  credentials: 'none',
  // It alters no decision.
  lock: 'shared',
  parameters: PurchaseShape,
  sentence: ({ onrampProvider, walletAddress, cryptoCurrencyCode, fiatCurrencyAmount, fiatCurrencyCode }, context) =>
    say`Open a purchase of ${strong(toWords(cryptoCurrencyCode.replace(/^.*_CURRENCY_/, '')).toUpperCase())}${fiatCurrencyAmount === undefined ? '' : say` for ${strong(`${fiatCurrencyAmount} ${(fiatCurrencyCode ?? '').replace(/^.*_CURRENCY_/, '')}`)}`} at ${strong(providerName(onrampProvider))} for ${partyPart(context, walletAddress)}.`,
  result: Type.Object({
    onRampUrl: Type.String(),
    onRampTransactionId: Type.String(),
    onRampUrlSignature: Type.Optional(Type.String()),
  }),
  check: checkPurchase,
  describe: planPurchase,
  // Coinbase is asked for a session here, and not after the commit, because its token is in the answer. Nothing is
  // bought by that, and an unused token ends by itself; but each would count against the provider's limits, so that one
  // request asks once, however often it is prepared (protocol/activities 1.3).
  prepare: (context, parameters, plan) => context.once(() => beginPurchase(context, parameters, plan)),
  async execute({ store, actor, nowMs }, { onrampProvider, sandboxMode = false }, begun) {
    const { id, credentialId, onRampUrl, onRampUrlSignature } = begun;
    await store(OnRampStore).insertTransaction(actor.organizationId, {
      id,
      credentialId,
      provider: onrampProvider,
      isSandbox: sandboxMode,
      status: 'PENDING',
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
    return {
      onRampUrl,
      onRampTransactionId: id as string,
      ...(onRampUrlSignature !== undefined && { onRampUrlSignature }),
    };
  },
});
