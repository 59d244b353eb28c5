import Type from 'typebox';
import {
  batchedCalls,
  type ParsedTransaction,
  readTransaction,
  signableOf,
  TRANSACTION_TYPES,
  type TransactionType,
} from '../../../chains/transactions.ts';
import { transactionSentence } from '../../../describe/chains/transaction.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import { LIMITS } from '../../../lib/limits.ts';
import { IdShape, textShape } from '../../../lib/shapes.ts';
import { both, SIGNERS, TRANSACTIONS } from '../../../policy/index.ts';
import { movementsOf, signedAssets, transactionFacts } from '../facts.ts';
import { notePayments, paymentsOf } from '../payments.ts';
import { resolveSigner, signAs } from '../signer.ts';

/** A PSBT carries the transactions that it spends from, so nothing but the size of the request bounds it. */
const UNSIGNED_LENGTH_MAX = LIMITS.bodyBytes;

const common = {
  unsignedTransaction: textShape(UNSIGNED_LENGTH_MAX),
  type: Type.Enum([...TRANSACTION_TYPES], { 'x-code': 'UNSUPPORTED_TRANSACTION_TYPE' }),
};

export const signTransaction = defineActivity({
  name: 'sign_transaction',
  type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
  summary:
    'Sign an Ethereum, Solana, Tron, Bitcoin or Tempo transaction. One that does not parse or fit the signer is refused.',
  bodyLimit: LIMITS.bodyBytes,
  // The type is shown by every version: otherwise the older one would pass a DENY that reads it.
  policy: {
    governedBy: 'policy',
    resource: 'PRIVATE_KEY',
    action: 'SIGN',
    params: ['type'],
    namespaces: both(SIGNERS, TRANSACTIONS),
  },
  credentials: 'none',
  lock: 'shared',
  parameters: Type.Object({ signWith: textShape(512), ...common }),
  older: [
    legacy(
      'ACTIVITY_TYPE_SIGN_TRANSACTION',
      Type.Object({ privateKeyId: IdShape, ...common }),
      ({ privateKeyId, ...rest }) => ({
        ...rest,
        signWith: privateKeyId,
      }),
    ),
  ],
  sentence: ({ type, unsignedTransaction, signWith }, context) => ({
    kind: 'Sign a transaction',
    ...transactionSentence(context, type as TransactionType, unsignedTransaction, signWith),
  }),
  result: Type.Object({ signedTransaction: Type.String() }),
  async describe(context, { signWith, unsignedTransaction, type }) {
    const signer = await resolveSigner(context, signWith);
    const fitted = signableOf(type as TransactionType, unsignedTransaction, signer);
    let parsed: ParsedTransaction | undefined;
    return {
      signer,
      ...fitted,
      /** What the transaction says, for whoever judges it; read when first asked for. */
      transaction: (): ParsedTransaction => {
        parsed ??= readTransaction(type as TransactionType, unsignedTransaction, { ...signer, fitted });
        return parsed;
      },
    };
  },
  // Of every version: a DENY that reads it must not be passed by sending V1 (protocol/policy-facts 2).
  exposes: ({ type }) => ({ type }),
  async facts(context, _parameters, { signer, transaction }) {
    const parsed = transaction();
    return await transactionFacts(context, signer, [parsed, ...batchedCalls(parsed)]);
  },
  movements: async (context, _parameters, { signer, transaction }) =>
    movementsOf(signer, await signedAssets(context, transaction())),
  async prepare(context, _parameters, { signer, account, signable, transaction }) {
    const signedTransaction = signable.attach(await signAs(context, signer, account, signable.payloads));
    return { signedTransaction, payments: paymentsOf(context.config.chains, [transaction()]) };
  },
  async execute(context, _parameters, { signedTransaction, payments }) {
    await notePayments(context, payments);
    return { signedTransaction };
  },
});
