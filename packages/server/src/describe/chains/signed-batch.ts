import { type EvmCall, unbatched } from '../../chains/ethereum/batch.ts';
import type { HashedTypedData, TypedStruct } from '../../chains/ethereum/eip712.ts';
import { ApiError } from '../../lib/errors.ts';
import type { Mark } from '../risk.ts';
import type { Sentence, SentenceContext } from '../sentence.ts';
import { say } from '../text.ts';
import { worstConsequence } from './clauses.ts';
import { callsSentence } from './evm.ts';
import { partyPart } from './parties.ts';
import { hexAt, structsAt, uintAt, untilWords } from './typed-values.ts';

/** How many calls may still be told. */
export interface CallBudget {
  left: number;
}

/** Calls that CustosBatch runs for the account that signs them, whoever carries them. */
export interface SignedBatch {
  readonly carrier: string;
  readonly deadline: bigint;
  readonly calls: readonly EvmCall[];
}

/** The types that the contract hashes: anything else is no batch of its. */
const TYPES: Readonly<Record<string, string>> = {
  BatchExecution: 'address carrier,uint256 nonce,uint256 deadline,Call[] calls',
  Call: 'address to,uint256 value,bytes data',
};

/** Undefined for what no CustosBatch takes, or none that `account` has borrowed. */
export function signedBatchOf(data: HashedTypedData, account: string): SignedBatch | undefined {
  const { primaryType, domain, message, types } = data;
  if (primaryType !== 'BatchExecution' || domain.name !== 'Custos Batch') return undefined;
  if (domain.verifyingContract?.toLowerCase() !== account) return undefined;
  const isHashed = Object.entries(TYPES).every(
    ([name, members]) =>
      types
        .get(name)
        ?.map(({ type, name: member }) => `${type} ${member}`)
        .join() === members,
  );
  const [carrier, deadline] = [hexAt(message, 'carrier'), uintAt(message, 'deadline')];
  if (!isHashed || carrier === undefined || deadline === undefined) return undefined;
  return { carrier, deadline, calls: structsAt(message, 'calls').map(toCall) };
}

const toCall = (call: TypedStruct): EvmCall => ({
  to: hexAt(call, 'to') ?? '',
  value: uintAt(call, 'value') ?? 0n,
  data: textAt(call, 'data'),
});

const textAt = (call: TypedStruct, name: string): string => {
  const found = call.get(name);
  return found?.kind === 'hex' ? found.value : '0x';
};

const BY_SIGNATURE: Mark = { risk: 'DANGER', text: 'calls that somebody else sends, by signature' };
const CONSEQUENCE = 'The carrier can run these calls once, and nobody here sees it before that. I want that.';

/** Undefined where the request has more calls than are told. */
export function signedBatchSentence(
  context: SentenceContext,
  { account, caip2 }: { readonly account: string; readonly caip2: string | undefined },
  { carrier, deadline, calls }: SignedBatch,
  budget: CallBudget,
): Sentence | undefined {
  budget.left -= sizeOf(account, calls);
  if (budget.left < 0) return undefined;
  const said = callsSentence(context, caip2, account, calls);
  const consequence = worstConsequence([said, { marks: [BY_SIGNATURE], consequence: CONSEQUENCE }]);
  return {
    ...said,
    kind: 'Sign a batch',
    parts: say`${said.parts} By signature: ${partyPart(context, carrier, caip2)} may run it${untilWords(deadline, context.nowMs)}; no chain shows it before use.`,
    marks: [...said.marks, BY_SIGNATURE],
    ...(consequence !== undefined && { consequence }),
  };
}

function sizeOf(account: string, calls: readonly EvmCall[]): number {
  try {
    return Math.max(calls.length, unbatched(account, calls).length);
  } catch (error) {
    if (error instanceof ApiError) return calls.length;
    throw error;
  }
}
