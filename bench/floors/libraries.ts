import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// Each library as the named package has it installed, so that a floor uses the same copy as the service. The types are
// those parts that a floor calls.

const FOLDERS = { keyring: '../../packages/keyring/', server: '../../packages/server/', compat: '../../compat/' };
type Place = keyof typeof FOLDERS;

const requireOf = (place: Place): NodeJS.Require =>
  createRequire(new URL(`${FOLDERS[place]}package.json`, import.meta.url));

const load = async <T>(place: Place, name: string): Promise<T> =>
  (await import(pathToFileURL(requireOf(place).resolve(name)).href)) as T;

export interface Secp256k1 {
  pointFromScalar(key: Uint8Array, compressed: boolean): Uint8Array | null;
  privateAdd(key: Uint8Array, tweak: Uint8Array): Uint8Array | null;
  signRecoverable(digest: Uint8Array, key: Uint8Array): unknown;
}

interface Keccak {
  keccak_256(bytes: Uint8Array): Uint8Array;
}

interface EthersWallet {
  readonly address: string;
  deriveChild(index: number): EthersWallet;
}

interface Ethers {
  readonly HDNodeWallet: {
    createRandom(password: string, path: string): EthersWallet;
    fromPhrase(phrase: string, password: string, path: string): EthersWallet;
  };
}

interface ViemAccounts {
  readonly english: string[];
  generateMnemonic(words: string[]): string;
  mnemonicToAccount(phrase: string): { readonly address: string; getHdKey(): HdKey };
  hdKeyToAccount(key: HdKey, options: { path: string }): { readonly address: string };
}

interface HdKey {
  derive(path: string): HdKey;
}

export const loadSecp256k1 = (): Promise<Secp256k1> => load('keyring', 'tiny-secp256k1');
export const loadKeccak = (): Promise<Keccak> => load('keyring', '@noble/hashes/sha3.js');
export const loadWords = async (): Promise<readonly string[]> =>
  (await load<{ wordlist: readonly string[] }>('keyring', '@scure/bip39/wordlists/english.js')).wordlist;
export const loadEthers = (): Promise<Ethers> => load('compat', 'ethers');
export const loadViem = (): Promise<ViemAccounts> => load('server', 'viem/accounts');

/** The packages of compat/ are installed by the tests and may be absent. */
export function hasEthers(): boolean {
  try {
    requireOf('compat').resolve('ethers');
    return true;
  } catch {
    return false;
  }
}
