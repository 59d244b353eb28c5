// Bare cryptography, one thing after the other, as fast as one core can: what the service's libraries need for it without
// a service around them, and what other wallets' libraries need. Keys are at hand where a service may keep them at hand.
import { answerParent } from '../child.ts';
import { loadEthers, loadViem } from './libraries.ts';
import { type BareWork, PARENT, PHRASE, prepareWork } from './works.ts';

export type Library = 'bare' | 'ethers' | 'viem';

export interface BareQuestion {
  readonly work: BareWork;
  readonly library: Library;
  readonly seconds: number;
}

export interface BareAnswer {
  readonly count: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

const UNTIMED = 20;

const prepared = new Map<string, Promise<() => unknown>>();

answerParent(async ({ work, library, seconds }: BareQuestion): Promise<BareAnswer> => {
  const name = `${library} ${work}`;
  let once = prepared.get(name);
  if (once === undefined) {
    once = library === 'bare' ? prepareWork(work) : library === 'ethers' ? ethers(work) : viem(work);
    prepared.set(name, once);
  }
  return repeat(await once, seconds);
});

function repeat(once: () => unknown, seconds: number): BareAnswer {
  for (let count = 0; count < UNTIMED; count += 1) once();
  const latencies: number[] = [];
  const before = process.cpuUsage();
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  let now = startedAt;
  while (now < endsAt) {
    const from = now;
    once();
    now = performance.now();
    latencies.push(now - from);
  }
  const { user, system } = process.cpuUsage(before);
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => (latencies[Math.floor(latencies.length * share)] ?? Number.NaN) * 1000;
  return {
    count: latencies.length,
    seconds: (now - startedAt) / 1000,
    cpuSeconds: (user + system) / 1e6,
    p50Us: at(0.5),
    p99Us: at(0.99),
  };
}

async function ethers(work: BareWork): Promise<() => unknown> {
  const { HDNodeWallet } = await loadEthers();
  if (work === 'wallet') return () => HDNodeWallet.createRandom('', `${PARENT}/0`).address;
  if (work !== 'account') throw new Error(`ethers is not compared for ${work}`);
  const parent = HDNodeWallet.fromPhrase(PHRASE, '', PARENT);
  let index = 0;
  return () => {
    index += 1;
    return parent.deriveChild(index).address;
  };
}

async function viem(work: BareWork): Promise<() => unknown> {
  const { english, generateMnemonic, mnemonicToAccount, hdKeyToAccount } = await loadViem();
  if (work === 'wallet') return () => mnemonicToAccount(generateMnemonic(english)).address;
  if (work !== 'account') throw new Error(`viem is not compared for ${work}`);
  const parent = mnemonicToAccount(PHRASE).getHdKey().derive(PARENT);
  let index = 0;
  return () => {
    index += 1;
    return hdKeyToAccount(parent, { path: `m/${index}` }).address;
  };
}
