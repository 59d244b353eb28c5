import Type from 'typebox';
import { chainName, configuredChain } from '../../../chains/networks.ts';
import { SolanaChainShape } from '../../../chains/shapes.ts';
import { solanaNetwork } from '../../../chains/solana/network.ts';
import { solanaSentence } from '../../../describe/chains/solana.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import { firstDuplicate } from '../../../lib/collections.ts';
import { invalidField } from '../../../lib/errors.ts';
import type { SendId } from '../../../lib/ids.ts';
import { textShape } from '../../../lib/shapes.ts';
import { both, SIGNERS } from '../../../policy/index.ts';
import { notePayments, paymentsOf } from '../../signing/payments.ts';
import { insertSend, requireSponsor } from '../new-send.ts';
import { solanaFactsOf, solanaMovements } from '../solana-facts.ts';
import { draftSolana, hexOfEither, resolveSolanaSigner } from '../solana-request.ts';

const SIGNERS_MAX = 16;
const AddressShape = textShape(512);

const common = {
  unsignedTransaction: textShape(8 * 1024),
  caip2: SolanaChainShape,
  sponsor: Type.Optional(Type.Boolean()),
  recentBlockhash: Type.Optional(textShape(64)),
};

export const solSendTransaction = defineActivity({
  name: 'sol_send_transaction',
  type: 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2',
  resultKey: 'solSendTransactionResultV2',
  summary:
    'Sign a Solana transaction and send it. It is accepted when the activity is; get_send_transaction_status tells what became of it.',
  waitsOutside: true,
  policy: { governedBy: 'policy', resource: 'PRIVATE_KEY', action: 'SIGN', namespaces: both(SIGNERS, [['solana.tx']]) },
  credentials: 'none',
  lock: 'shared',
  sendsTransactions: true,
  example: {
    unsignedTransaction: '0100000000000000000000000000000000000000000000000000000000000000…',
    caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    signWiths: ['HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk'],
  },
  parameters: Type.Object({
    ...common,
    signWiths: Type.Array(AddressShape, { minItems: 1, maxItems: SIGNERS_MAX }),
  }),
  older: [
    legacy(
      'ACTIVITY_TYPE_SOL_SEND_TRANSACTION',
      Type.Object({ ...common, signWith: AddressShape }),
      ({ signWith, unsignedTransaction, ...rest }) => ({
        ...rest,
        unsignedTransaction: hexOfEither(unsignedTransaction),
        signWiths: [signWith],
      }),
    ),
  ],
  sentence: ({ unsignedTransaction, caip2, signWiths }, context) => ({
    kind: 'Send a transaction',
    ...solanaSentence(context, hexOfEither(unsignedTransaction), signWiths, chainName(caip2)),
  }),
  result: Type.Object({ sendTransactionStatusId: Type.String() }),
  check({ signWiths }) {
    if (firstDuplicate(signWiths) !== undefined) throw invalidField('parameters.signWiths', 'names an address twice');
  },
  async describe(context, { unsignedTransaction, signWiths, caip2, sponsor, recentBlockhash }) {
    const chain = configuredChain(context.config.chains, caip2, solanaNetwork);
    const signers = await Promise.all(signWiths.map((address) => resolveSolanaSigner(context, address)));
    const drafted = draftSolana({
      unsignedTransaction,
      signers: signWiths,
      recentBlockhash,
      sponsor: sponsor === true ? await requireSponsor(context, chain) : undefined,
    });
    return { chain, signers, ...drafted };
  },
  facts: (context, _parameters, { signers, wire }) => solanaFactsOf(context, signers, wire.transaction),
  movements: (_context, _parameters, { signers, wire }) => solanaMovements(signers, wire.transaction),
  prepare: async ({ config }, _parameters, { chain, sender, request, wire }) => ({
    chain,
    sender,
    request,
    payments: paymentsOf(
      config.chains,
      [{ type: 'TRANSACTION_TYPE_SOLANA', transaction: wire.transaction, signer: sender }],
      chain.caip2,
    ),
  }),
  async execute(context, _parameters, { chain, sender, request, payments }) {
    const id: SendId = context.newId();
    await insertSend(context, { id, chain, sender, purpose: 'send', request });
    await notePayments(context, payments);
    return { sendTransactionStatusId: id as string };
  },
});
