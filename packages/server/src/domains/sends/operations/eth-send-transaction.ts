import Type from 'typebox';
import { ethereumNetwork } from '../../../chains/ethereum/network.ts';
import { chainName, configuredChain } from '../../../chains/networks.ts';
import { EthereumAddressShape, EthereumChainShape, UintShape } from '../../../chains/shapes.ts';
import { sendSentence } from '../../../describe/chains/evm-send.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import type { SendId } from '../../../lib/ids.ts';
import { both, SIGNERS } from '../../../policy/index.ts';
import { transactionFacts } from '../../signing/facts.ts';
import { notePayments, paymentsOf } from '../../signing/payments.ts';
import { resolveSender, termsFees, transactionMovements, transactionsOf } from '../calls.ts';
import {
  CALLS_MAX,
  checkCalls,
  checkServed,
  checkTerms,
  EthereumCallShape,
  toCalls,
  toRequest,
  toTerms,
} from '../ethereum-request.ts';
import { insertSend, requireSponsor, sponsorOf } from '../new-send.ts';

const common = {
  from: EthereumAddressShape,
  caip2: EthereumChainShape,
  sponsor: Type.Optional(Type.Boolean()),
  nonce: Type.Optional(UintShape),
  gasLimit: Type.Optional(UintShape),
  maxFeePerGas: Type.Optional(UintShape),
  maxPriorityFeePerGas: Type.Optional(UintShape),
  deadline: Type.Optional(UintShape),
  gasStationNonce: Type.Optional(UintShape),
};

export const ethSendTransaction = defineActivity({
  name: 'eth_send_transaction',
  type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2',
  resultKey: 'ethSendTransactionResultV2',
  summary:
    'Sign a transaction of an EVM chain and send it. It is accepted when the activity is; get_send_transaction_status tells what became of it.',
  waitsOutside: true,
  bodyLimit: 320 * 1024,
  policy: { governedBy: 'policy', resource: 'PRIVATE_KEY', action: 'SIGN', namespaces: both(SIGNERS, [['eth.tx']]) },
  credentials: 'none',
  lock: 'shared',
  sendsTransactions: true,
  parameters: Type.Object({
    ...common,
    calls: Type.Array(EthereumCallShape, { minItems: 1, maxItems: CALLS_MAX }),
  }),
  older: [
    legacy(
      'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
      Type.Object({ ...common, ...EthereumCallShape.properties }),
      ({ to, value, data, ...rest }) => {
        const call = { to, ...(value !== undefined && { value }), ...(data !== undefined && { data }) };
        checkCalls(rest.from, [call], () => 'parameters');
        return { ...rest, calls: [call] };
      },
    ),
  ],
  sentence: ({ from, caip2, calls, ...terms }, context) => ({
    kind: 'Send a transaction',
    ...sendSentence(
      context,
      chainName(caip2),
      from.toLowerCase(),
      toCalls(calls).map((call) => ({ ...call, value: BigInt(call.value) })),
      terms,
    ),
  }),
  result: Type.Object({ sendTransactionStatusId: Type.String() }),
  check(parameters) {
    checkCalls(parameters.from, parameters.calls, (index) => `parameters.calls.${index}`);
    checkTerms(parameters);
  },
  async describe(context, parameters) {
    const chain = configuredChain(context.config.chains, parameters.caip2, ethereumNetwork);
    const calls = toCalls(parameters.calls);
    checkServed(chain, parameters, context.nowMs);
    if (parameters.sponsor === true) await requireSponsor(context, chain);
    const signer = await resolveSender(context, parameters.from, 'from');
    const terms = toTerms(parameters);
    return {
      signer,
      transactions: transactionsOf(chain, parameters.from, calls, terms),
      fees: termsFees(chain, terms),
    };
  },
  facts: (context, _parameters, { signer, transactions }) => transactionFacts(context, signer, transactions),
  movements: (context, _parameters, { signer, transactions, fees }) =>
    transactionMovements(context, signer, transactions, fees),
  async execute(context, parameters) {
    const chain = configuredChain(context.config.chains, parameters.caip2, ethereumNetwork);
    const id: SendId = context.newId();
    await insertSend(context, {
      id,
      chain,
      sender: parameters.from,
      ...(parameters.sponsor === true && { payer: sponsorOf(chain) }),
      purpose: 'send',
      request: toRequest(parameters, id),
    });
    const transactions = transactionsOf(chain, parameters.from, toCalls(parameters.calls));
    await notePayments(context, paymentsOf(context.config.chains, transactions));
    return { sendTransactionStatusId: id as string };
  },
});
