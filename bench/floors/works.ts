// What requests cannot do without, by the libraries that the service uses. Keys are at hand where a service may keep them
// at hand.
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
import { loadKeccak, loadSecp256k1, loadWords, type Secp256k1 } from './libraries.ts';

export const BARE_WORKS = [
  'wallet',
  'account',
  'secp256k1',
  'ed25519',
  'export',
  'login',
  'session',
  'sign-up',
  'otp',
  'otp-init',
  'otp-verify',
  'otp-login',
] as const;
export type BareWork = (typeof BARE_WORKS)[number];

/** What a request asks of the libraries: some work, so many times. */
export interface CryptoWork {
  readonly work: BareWork;
  readonly times: number;
}

export const PARENT = "m/44'/60'/0'/0";
const HARDENED = 0x80000000;
const PARENT_INDICES = [HARDENED + 44, HARDENED + 60, HARDENED, 0];
export const PHRASE = 'test test test test test test test test test test test junk';
/** The address of the phrase's first account. A floor must compute the same one as everybody else. */
const FIRST_ADDRESS = 'f39fd6e51aad88f6f4ce6ab8827279cfffb92266';
/** Prepares the work; each call then does it once. */
export async function prepareWork(work: BareWork): Promise<() => unknown> {
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
    case 'session':
      return signatures(1, 0);
    case 'sign-up': {
      // The proxy's own stamp, and the wallet.
      const stamp = signatures(1, 1);
      return () => [stamp(), newWallet()];
    }
    // Each with a stamp of the proxy, signed and verified. Asking for a code makes a key that the code is encrypted to and
    // signs it; verifying one opens it and signs a token; the login verifies the client and signs a session.
    case 'otp-init': {
      const stamp = signatures(2, 1);
      return () => [stamp(), createECDH('prime256v1').generateKeys()];
    }
    case 'otp-verify': {
      const stamp = signatures(2, 1);
      const open = opener();
      return () => [stamp(), open()];
    }
    case 'otp-login':
      return signatures(2, 2);
    case 'otp': {
      const [init, check, login] = [
        await prepareWork('otp-init'),
        await prepareWork('otp-verify'),
        await prepareWork('otp-login'),
      ];
      return () => [init(), check(), login()];
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

/** One HPKE decryption with a key at hand. */
function opener(): () => unknown {
  const receiver = createECDH('prime256v1');
  receiver.generateKeys();
  const enc = createECDH('prime256v1').generateKeys();
  const code = Buffer.from(PHRASE);
  return () => {
    const shared = hkdfSync('sha256', receiver.computeSecret(enc), '', enc, 32);
    const keys = Buffer.from(hkdfSync('sha256', new Uint8Array(shared), '', 'key, nonce', 44));
    const cipher = createCipheriv('aes-256-gcm', keys.subarray(0, 32), keys.subarray(32));
    return Buffer.concat([cipher.update(code), cipher.final(), cipher.getAuthTag()]);
  };
}
