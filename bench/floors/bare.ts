// Bare cryptography, one thing after the other, as fast as one core can: what the service's libraries need for it without
// a service around them, and what other wallets' libraries need. Keys are at hand where a service may keep them at hand.
import {
  createCipheriv,
  createECDH,
  createHash,
  createHmac,
  generateKeyPairSync,
  hkdfSync,
  pbkdf2Sync,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { answerParent } from '../child.ts';
import { loadEthers, loadKeccak, loadSecp256k1, loadViem, loadWords, type Secp256k1 } from './libraries.ts';

export type BareWork = 'wallet' | 'account' | 'secp256k1' | 'ed25519' | 'export' | 'login' | 'otp' | 'sign-up';
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

const PARENT = "m/44'/60'/0'/0";
const HARDENED = 0x80000000;
const PARENT_INDICES = [HARDENED + 44, HARDENED + 60, HARDENED, 0];
const PHRASE = 'test test test test test test test test test test test junk';
/** Of the phrase's first account, as everyone else computes it: a floor that computes something else is none. */
const FIRST_ADDRESS = 'f39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const UNTIMED = 20;

const prepared = new Map<string, Promise<() => unknown>>();

answerParent(async ({ work, library, seconds }: BareQuestion): Promise<BareAnswer> => {
  const name = `${library} ${work}`;
  let once = prepared.get(name);
  if (once === undefined) {
    once = library === 'bare' ? bare(work) : library === 'ethers' ? ethers(work) : viem(work);
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

async function bare(work: BareWork): Promise<() => unknown> {
  const secp256k1 = await loadSecp256k1();
  const { keccak_256 } = await loadKeccak();
  const words = await loadWords();
  const digest = randomBytes(32);
  const addressOf = (key: Uint8Array): Uint8Array =>
    keccak_256((secp256k1.pointFromScalar(key, false) as Uint8Array).subarray(1)).subarray(12);
  const newWallet = (): Uint8Array => {
    const seed = pbkdf2Sync(newPhrase(words), 'mnemonic', 2048, 64, 'sha512');
    const parent = PARENT_INDICES.reduce((node, index) => child(secp256k1, node, index), masterOf(seed));
    return addressOf(child(secp256k1, parent, 0).key);
  };
  switch (work) {
    case 'wallet':
      return newWallet;
    case 'account': {
      const seed = pbkdf2Sync(PHRASE, 'mnemonic', 2048, 64, 'sha512');
      const parent = PARENT_INDICES.reduce((node, index) => child(secp256k1, node, index), masterOf(seed));
      const point = secp256k1.pointFromScalar(parent.key, true) as Uint8Array;
      const first = Buffer.from(addressOf(child(secp256k1, parent, 0).key)).toString('hex');
      if (first !== FIRST_ADDRESS) throw new Error(`the floor derives ${first}`);
      let index = 0;
      return () => {
        index += 1;
        return addressOf(child(secp256k1, { ...parent, point }, index).key);
      };
    }
    case 'secp256k1': {
      const key = randomBytes(32);
      return () => secp256k1.signRecoverable(digest, key);
    }
    case 'ed25519': {
      const { privateKey } = generateKeyPairSync('ed25519');
      return () => sign(null, digest, privateKey);
    }
    case 'export':
      return exporter();
    case 'login':
      return signatures(1, 1);
    case 'sign-up': {
      // The proxy's own stamp, and the wallet.
      const stamp = signatures(1, 1);
      return () => [stamp(), newWallet()];
    }
    case 'otp': {
      // Three stamps of the proxy; the target of the code, its token and the session are signed, the client's signature is
      // verified; the code is opened with a key that was made for it.
      const stamps = signatures(6, 4);
      const open = exporter();
      return () => [stamps(), open()];
    }
  }
}

/** P-256, so many signed and so many verified. */
function signatures(signed: number, verified: number): () => unknown {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const message = randomBytes(300);
  const signature = sign('sha256', message, privateKey);
  return () => {
    for (let count = 0; count < signed; count += 1) sign('sha256', message, privateKey);
    for (let count = 0; count < verified; count += 1) verify('sha256', message, publicKey, signature);
  };
}

interface Node {
  readonly key: Uint8Array;
  readonly chainCode: Uint8Array;
  /** The public key, where it is known already. */
  readonly point?: Uint8Array;
}

/** BIP-39, English, 12 words. */
function newPhrase(words: readonly string[]): string {
  const entropy = randomBytes(16);
  const checksum = (createHash('sha256').update(entropy).digest()[0] as number) >> 4;
  let bits = (BigInt(`0x${entropy.toString('hex')}`) << 4n) | BigInt(checksum);
  const phrase: string[] = [];
  for (; phrase.length < 12; bits >>= 11n) phrase.unshift(words[Number(bits & 0x7ffn)] as string);
  return phrase.join(' ');
}

function masterOf(seed: Uint8Array): Node {
  const hash = createHmac('sha512', 'Bitcoin seed').update(seed).digest();
  return { key: hash.subarray(0, 32), chainCode: hash.subarray(32) };
}

/** BIP-32, CKDpriv. */
function child(secp256k1: Secp256k1, { key, chainCode, point }: Node, index: number): Node {
  const data = Buffer.alloc(37);
  if (index >= HARDENED) data.set(key, 1);
  else data.set(point ?? (secp256k1.pointFromScalar(key, true) as Uint8Array));
  data.writeUInt32BE(index, 33);
  const hash = createHmac('sha512', chainCode).update(data).digest();
  return { key: secp256k1.privateAdd(key, hash.subarray(0, 32)) as Uint8Array, chainCode: hash.subarray(32) };
}

/** One HPKE encryption to a P-256 key and one signature over it. Two HKDFs stand for the key schedule. */
function exporter(): () => unknown {
  const receiver = createECDH('prime256v1').generateKeys();
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const phrase = Buffer.from(PHRASE);
  return () => {
    const ephemeral = createECDH('prime256v1');
    const enc = ephemeral.generateKeys();
    const shared = hkdfSync('sha256', ephemeral.computeSecret(receiver), '', enc, 32);
    const keys = Buffer.from(hkdfSync('sha256', new Uint8Array(shared), '', 'key, nonce', 44));
    const cipher = createCipheriv('aes-256-gcm', keys.subarray(0, 32), keys.subarray(32));
    cipher.setAAD(Buffer.concat([enc, receiver]));
    const ciphertext = Buffer.concat([cipher.update(phrase), cipher.final(), cipher.getAuthTag()]);
    return sign('sha256', ciphertext, privateKey);
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
