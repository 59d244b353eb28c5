import Type from 'typebox';
import { ethereumNetwork } from '../../../chains/ethereum/network.ts';
import { parseSignedEthereumTransaction } from '../../../chains/ethereum/signed-transaction.ts';
import { configuredChain } from '../../../chains/networks.ts';
import { foreignLane } from '../../../chains/send/model.ts';
import { EthereumChainShape } from '../../../chains/shapes.ts';
import type { ParsedTransaction } from '../../../chains/transactions.ts';
import { batchedCalls } from '../../../chains/transactions.ts';
import { ethereumSentence } from '../../../describe/chains/evm.ts';
import { defineActivity } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { SendId } from '../../../lib/ids.ts';
import { both, SIGNERS } from '../../../policy/index.ts';
import { movementsOf, signedAssets, transactionFacts } from '../../signing/facts.ts';
import { findSigner } from '../../signing/signer.ts';
import { insertSend } from '../new-send.ts';

/** Public nodes relay no transaction that is longer. */
const TRANSACTION_BYTES_MAX = 128 * 1024;
const NONCE_MAX = BigInt(Number.MAX_SAFE_INTEGER - 1);

export const ethSendRawTransaction = defineActivity({
  name: 'eth_send_raw_transaction',
  type: 'ACTIVITY_TYPE_ETH_SEND_RAW_TRANSACTION',
  summary: 'Send a transaction of an EVM chain that is signed already, by a key of this organization or by any other.',
  waitsOutside: true,
  // What another signed may be sent too; then there is no key of this organization to tell of.
  policy: {
    governedBy: 'policy',
    resource: 'PRIVATE_KEY',
    action: 'SIGN',
    namespaces: both([...SIGNERS, []], [['eth.tx']]),
  },
  credentials: 'none',
  lock: 'shared',
  sendsTransactions: true,
  example: {
    signedTransaction:
      '0x02f8720180843b9aca008506fc23ac00825208945aaeb6053f3e94c9b9a09f33669435e7ef1beaed87038d7ea4c6800080c001a02a512fe8ee4d4fef256d5a7e7a73699d3a44383026913467506fb8f05e593e12a023e3857f16d39be3e05cee5c5f17b53baf9fa55f220bc7e9d50dcc8a81091cb9',
  },
  parameters: Type.Object({
    signedTransaction: Type.String({
      pattern: '^(?:0x)?[0-9a-fA-F]+$',
      maxLength: 2 + 2 * TRANSACTION_BYTES_MAX,
      'x-message': `must be hex, of at most ${TRANSACTION_BYTES_MAX} bytes`,
    }),
    caip2: EthereumChainShape,
  }),
  sentence({ signedTransaction }, context) {
    const { transaction, from } = parseSignedEthereumTransaction(signedTransaction);
    const { bytes: _signed, ...said } = ethereumSentence(context, transaction, from);
    return { kind: 'Send a signed transaction', ...said };
  },
  // The id is ours: without it nobody could ask what became of the transaction.
  result: Type.Object({ transactionHash: Type.String(), sendTransactionStatusId: Type.String() }),
  async describe(context, { signedTransaction, caip2 }) {
    const chain = configuredChain(context.config.chains, caip2, ethereumNetwork);
    const { transaction, from } = parseSignedEthereumTransaction(signedTransaction);
    if (transaction.chainId !== BigInt(chain.reference)) {
      throw new ApiError(
        'INVALID_TRANSACTION',
        `the transaction is for chain ${transaction.chainId}, not for ${chain.caip2}`,
      );
    }
    if (transaction.maxPriorityFeePerGas > transaction.maxFeePerGas || transaction.nonce > NONCE_MAX) {
      throw new ApiError(
        'INVALID_TRANSACTION',
        'no chain takes it: its tip is above its fee, or its nonce is too high',
      );
    }
    const parsed: ParsedTransaction = { type: 'TRANSACTION_TYPE_ETHEREUM', transaction, from };
    return { signer: await findSigner(context, from), parsed };
  },
  facts: (context, _parameters, { signer, parsed }) =>
    transactionFacts(context, signer, [parsed, ...batchedCalls(parsed)]),
  // Signed before, and counted then where the key is ours; now it is sent.
  async movements(context, _parameters, { signer, parsed }) {
    const assets = await signedAssets(context, parsed);
    return { ...(signer === undefined ? assets : movementsOf(signer, assets)), phases: ['submission'] };
  },
  prepare: async (_context, _parameters, { signer }) => signer !== undefined,
  async execute(context, { signedTransaction, caip2 }, isOurs) {
    const { from, hash, raw } = parseSignedEthereumTransaction(signedTransaction);
    const id: SendId = context.newId();
    await insertSend(context, {
      id,
      chain: configuredChain(context.config.chains, caip2, ethereumNetwork),
      sender: from,
      // What is not ours must not stand in the way of its owner's sends.
      ...(isOurs ? {} : { payer: foreignLane(context.actor.organizationId, from) }),
      purpose: 'raw',
      request: { kind: 'ethereum-raw', raw },
    });
    return { transactionHash: hash, sendTransactionStatusId: id as string };
  },
});
