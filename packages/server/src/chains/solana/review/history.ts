import { asList, asMembers, illShaped, isAbsent, resultOf } from '../../nodes/answers.ts';
import { NodeError } from '../../nodes/node-error.ts';
import { createRpc, type NodeOptions, type Rpc, type RpcCall } from '../../nodes/rpc.ts';
import type { RpcAnswer } from '../../nodes/rpc-answer.ts';
import type { ChainSettings } from '../../settings.ts';
import { asUnsigned } from '../node/solana-answers.ts';
import { chainProblem } from '../node/solana-node.ts';
import { isSigned, requiredSigners, transactionId } from '../signatures.ts';
import { parseWire, type SolanaWire } from '../solana.ts';

const PAGE = 1000;
const PAGES_MAX = 5;
/** A transaction of a version that Custos does not know. */
const UNKNOWN_VERSION = -32015;
const CONFIRMED = { commitment: 'confirmed' } as const;
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

/** A transaction that names an address. */
export interface SignatureEntry {
  readonly signature: string;
  readonly slot: number;
  readonly isSuccess: boolean;
  /** Undefined where the node does not know. */
  readonly atMs: number | undefined;
}

/** A transaction as it was sent, with the signatures of all that have to sign it. */
export interface SentWire extends SolanaWire {
  readonly raw: Buffer;
}

export interface SignatureList {
  readonly entries: readonly SignatureEntry[];
  /** The slot up to which some node has told all; undefined where there are more than are looked through. */
  readonly upTo: bigint | undefined;
}

/** What only a review of a restore asks of the nodes of a Solana chain. */
export interface SolanaHistory {
  /**
   * What named an address since a moment, the oldest first, with what any node knows. `none` where no node answers,
   * `forgotten` where none keeps what is that old.
   */
  signatures(address: string, sinceMs: number): Promise<SignatureList | 'none' | 'forgotten'>;
  /** Undefined for one of a kind that Custos does not sign; throws a NodeError where no node has it. */
  transaction(signature: string): Promise<SentWire | undefined>;
  /** When the block of a slot was made, in milliseconds. */
  blockTime(slot: bigint): Promise<number>;
}

export function createSolanaHistory(chain: ChainSettings, options: NodeOptions = {}): SolanaHistory {
  const rpc = createRpc(chain.rpcUrls, {
    ...options,
    identity: { method: 'getGenesisHash', problemOf: (result) => chainProblem(result, chain.reference) },
  });
  return {
    async signatures(address, sinceMs) {
      const lists = await rpc.askEach(async (ask) => ({
        // Before the list: what is confirmed until then is in it.
        head: await ask(slotCall('getSlot', [CONFIRMED])),
        isKept: await keepsSince(ask, sinceMs),
        ...(await signaturesOf(ask, address, sinceMs)),
      }));
      if (lists.length === 0) return 'none';
      const kept = lists.filter(({ isKept }) => isKept);
      if (kept.length === 0) return 'forgotten';
      const all = new Map(lists.flatMap(({ entries }) => entries.map((entry) => [entry.signature, entry])));
      const entries = [...all.values()].sort((one, other) => one.slot - other.slot);
      if (!kept.every(({ isWhole }) => isWhole)) return { entries, upTo: undefined };
      return { entries, upTo: newestOf(kept) };
    },
    transaction: (signature) =>
      rpc.ask({
        method: 'getTransaction',
        params: [signature, { encoding: 'base64', maxSupportedTransactionVersion: 0, ...CONFIRMED }],
        read: (answer) => (isOfUnknownVersion(answer) ? undefined : readWireOf(resultOf(answer), signature)),
      }),
    blockTime: (slot) => rpc.ask(timeCall(slot)),
  };
}

const slotCall = (method: string, params: readonly unknown[]): RpcCall<bigint> => ({
  method,
  params,
  read: (answer) => asUnsigned(resultOf(answer), 'the slot'),
});

const timeCall = (slot: bigint): RpcCall<number> => ({
  method: 'getBlockTime',
  params: [Number(slot)],
  read: (answer) => Number(asUnsigned(resultOf(answer), 'the time of a block')) * 1000,
});

/** Nodes throw old blocks away, and answer as if what was in them had never been. */
async function keepsSince(ask: Rpc['ask'], sinceMs: number): Promise<boolean> {
  const first = await ask(slotCall('getFirstAvailableBlock', []));
  return first === 0n || (await ask(timeCall(first))) <= sinceMs;
}

interface NodeList {
  readonly entries: SignatureEntry[];
  /** False where there are more than are looked through. */
  readonly isWhole: boolean;
}

async function signaturesOf(ask: Rpc['ask'], address: string, sinceMs: number): Promise<NodeList> {
  const entries: SignatureEntry[] = [];
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const before = entries.at(-1)?.signature;
    const found = await ask(signaturesCall(address, before));
    const young = found.filter(({ atMs }) => atMs === undefined || atMs >= sinceMs);
    entries.push(...young);
    if (found.length < PAGE || young.length < found.length) return { entries: entries.reverse(), isWhole: true };
  }
  return { entries: entries.reverse(), isWhole: false };
}

const signaturesCall = (address: string, before: string | undefined): RpcCall<readonly SignatureEntry[]> => ({
  method: 'getSignaturesForAddress',
  params: [address, { limit: PAGE, ...CONFIRMED, ...(before !== undefined && { before }) }],
  read: (answer) =>
    asList(resultOf(answer), 'the list of signatures').map((value) => {
      const { signature, slot, err, blockTime } = asMembers(value, 'an entry of the list of signatures');
      if (typeof signature !== 'string' || !SIGNATURE.test(signature)) throw illShaped('a signature');
      return {
        signature,
        slot: Number(asUnsigned(slot, 'the slot of a signature')),
        isSuccess: isAbsent(err),
        atMs: isAbsent(blockTime) ? undefined : Number(asUnsigned(blockTime, 'the time of a signature')) * 1000,
      };
    }),
});

const isOfUnknownVersion = (answer: RpcAnswer): boolean => !answer.ok && answer.code === UNKNOWN_VERSION;

/** The node cannot make one up: each signature has to be one of the message, and the first one is its name. */
function readWireOf(result: unknown, signature: string): SentWire | undefined {
  if (isAbsent(result)) throw new NodeError('unavailable', `it does not have the transaction ${signature}`);
  const [text] = asList(asMembers(result, 'the transaction').transaction, 'the transaction');
  if (typeof text !== 'string') throw illShaped('the transaction');
  const raw = Buffer.from(text, 'base64');
  let wire: SolanaWire;
  try {
    wire = parseWire(raw.toString('hex'));
  } catch {
    // Of a kind that Custos does not sign.
    return undefined;
  }
  const isGenuine = requiredSigners(wire).every((address, at) =>
    isSigned(wire, address, wire.slots[at] ?? new Uint8Array()),
  );
  if (!isGenuine || transactionId(wire.slots) !== signature) throw illShaped('the transaction');
  return { ...wire, raw };
}

function newestOf(kept: readonly { readonly head: bigint }[]): bigint {
  let newest = 0n;
  for (const { head } of kept) if (head > newest) newest = head;
  return newest;
}
