// A local Ethereum node in a process of its own, with the state of a fresh chain. The program comes from npm.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { findAnvil } from '../../scripts/lib/anvil.mjs';

const START_MS_MAX = 30_000;
const STOP_MS_MAX = 5_000;
const REQUEST_MS_MAX = 30_000;
const STDERR_CHARS_MAX = 4_000;

/** The phrase from which the node derives its funded accounts; everybody knows it. */
export const ANVIL_PHRASE = 'test test test test test test test test test test test junk';

export interface AnvilOptions {
  /** 31337 if absent. */
  readonly chainId?: number;
  /** `false`: a block comes only with `mine()`. */
  readonly automine?: boolean;
  /** Each block comes so long after the last one by its timestamp, whatever the clock says. */
  readonly secondsPerBlock?: number;
  /** A port that was free a moment ago, for a node that comes back under its old address. */
  readonly port?: number;
  readonly args?: readonly string[];
}

export interface Anvil {
  readonly url: string;
  readonly port: number;
  readonly chainId: number;
  readonly pid: number;
  request(method: string, params?: readonly unknown[]): Promise<unknown>;
  mine(blocks?: number): Promise<void>;
  /** Mines one block, `seconds` after the newest. */
  increaseTime(seconds: number): Promise<void>;
  setBalance(address: string, wei: bigint): Promise<void>;
  snapshot(): Promise<string>;
  /** A snapshot is used up by it. */
  revert(snapshot: string): Promise<void>;
  /** From here on the node signs for this address, and it has ether. */
  impersonate(address: string): Promise<void>;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What a node answers instead of a result. */
export class NodeError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const chainId = options.chainId ?? 31337;
  // The package's own starter would leave its child running when killed, so the program is started directly.
  const [program, ...first] = findAnvil();
  const child = spawn(
    program,
    [
      ...first,
      ...['--host', '127.0.0.1', '--port', String(options.port ?? 0), '--chain-id', String(chainId)],
      ...['--mnemonic', ANVIL_PHRASE, '--color', 'never'],
      ...(options.automine === false ? ['--no-mining'] : []),
      ...(options.args ?? []),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let port: number;
  try {
    port = await readPort(child);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  // Nobody reads the node's log, and a full pipe would stop it.
  child.stdout.resume();
  child.stderr.resume();
  const url = `http://127.0.0.1:${port}`;
  const request = (method: string, params: readonly unknown[] = []) => call(url, method, params);
  const stop = () => end(child);
  if (options.secondsPerBlock) await request('anvil_setBlockTimestampInterval', [options.secondsPerBlock]);
  return {
    url,
    port,
    chainId,
    pid: child.pid as number,
    request,
    mine: async (blocks = 1) => void (await request('anvil_mine', [`0x${blocks.toString(16)}`])),
    async increaseTime(seconds) {
      const { timestamp } = (await request('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
      await request('evm_setNextBlockTimestamp', [Number(timestamp) + seconds]);
      await request('evm_mine');
    },
    setBalance: async (address, wei) => void (await request('anvil_setBalance', [address, `0x${wei.toString(16)}`])),
    snapshot: async () => String(await request('evm_snapshot')),
    async revert(snapshot) {
      if ((await request('evm_revert', [snapshot])) !== true) throw new Error(`no snapshot ${snapshot}`);
    },
    async impersonate(address) {
      await request('anvil_impersonateAccount', [address]);
      await request('anvil_setBalance', [address, `0x${(10n ** 20n).toString(16)}`]);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function readPort(child: ChildProcessByStdio<null, Readable, Readable>): Promise<number> {
  let complaint = '';
  const collect = (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-STDERR_CHARS_MAX);
  };
  child.stderr.on('data', collect);
  const lines = createInterface({ input: child.stdout });
  const failed = new AbortController();
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX);
  try {
    return await Promise.race([
      new Promise<number>((resolve) => {
        lines.on('line', (line) => {
          const port = /^Listening on 127\.0\.0\.1:(\d+)$/.exec(line)?.[1];
          if (port !== undefined) resolve(Number(port));
        });
      }),
      once(child, 'exit', { signal: failed.signal }).then(() => {
        throw new Error(`anvil did not start: ${complaint.trim()}`);
      }),
    ]);
  } finally {
    clearTimeout(timer);
    failed.abort();
    lines.close();
    child.stderr.off('data', collect);
  }
}

async function call(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(REQUEST_MS_MAX),
  });
  const answer = (await response.json()) as {
    result?: unknown;
    error?: { code: number; message: string; data?: unknown };
  };
  if (answer.error) throw new NodeError(answer.error.code, `${method}: ${answer.error.message}`, answer.error.data);
  return answer.result;
}

async function end(child: ChildProcessByStdio<null, Readable, Readable>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
  clearTimeout(timer);
}
