import { ADDRESS_FORMAT_LIST, type Curve, type Format } from '@custos/keyring/formats';
import { isCurve, publicKeyOf, seedOf, Tree } from './derive.ts';
import type { KitAccount, KitPrivateKey, KitWallet, RecoveryKit } from './kit.ts';

/** What became of an address when it was computed again: `unknown` is one of a newer version, which cannot be. */
export type Verdict = 'same' | 'different' | 'unknown';

/** A key as wallets of its chain take it. */
export interface KeyTextOf {
  readonly name: string;
  readonly text: string;
}

export interface CheckedAddress {
  readonly addressFormat: string;
  /** As the kit has it. */
  readonly address: string;
  readonly verdict: Verdict;
  /** The address that the words or the key lead to, where it is another. */
  readonly computed?: string;
  /** Of the account alone; absent where it cannot be computed. */
  readonly key?: KeyTextOf;
}

export interface CheckedAccount extends CheckedAddress {
  readonly name?: string;
  readonly curve: string;
  readonly path: string;
}

export interface CheckedWallet {
  readonly wallet: KitWallet;
  readonly accounts: readonly CheckedAccount[];
}

export interface CheckedPrivateKey {
  readonly privateKey: KitPrivateKey;
  readonly addresses: readonly CheckedAddress[];
}

export interface CheckedKit {
  readonly kit: RecoveryKit;
  readonly wallets: readonly CheckedWallet[];
  readonly privateKeys: readonly CheckedPrivateKey[];
  readonly counts: Readonly<Record<Verdict, number>>;
}

/** Wallets whose words are stretched at the same time, and keys between two turns of others. */
const AT_ONCE = 16;

/** Whoever shows the progress has a turn. */
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

const FORMATS: ReadonlyMap<string, Format> = new Map(ADDRESS_FORMAT_LIST.map((format) => [format.name, format]));

/** Computes every address again from the words and keys. `progress` is told how many wallets and keys are done. */
export async function checkKit(kit: RecoveryKit, progress: (done: number) => void = () => {}): Promise<CheckedKit> {
  const wallets: CheckedWallet[] = [];
  for (let start = 0; start < kit.wallets.length; start += AT_ONCE) {
    wallets.push(...(await Promise.all(kit.wallets.slice(start, start + AT_ONCE).map(checkWallet))));
    progress(wallets.length);
    await turn();
  }
  const privateKeys: CheckedPrivateKey[] = [];
  for (let start = 0; start < kit.privateKeys.length; start += AT_ONCE) {
    privateKeys.push(...kit.privateKeys.slice(start, start + AT_ONCE).map(checkPrivateKey));
    progress(wallets.length + privateKeys.length);
    await turn();
  }
  const counts: Record<Verdict, number> = { same: 0, different: 0, unknown: 0 };
  for (const { verdict } of [...wallets, ...privateKeys].flatMap((one) =>
    'accounts' in one ? one.accounts : one.addresses,
  )) {
    counts[verdict] += 1;
  }
  return { kit, wallets, privateKeys, counts };
}

async function checkWallet(wallet: KitWallet): Promise<CheckedWallet> {
  const tree = new Tree(await seedOf(wallet.mnemonic, wallet.passphrase));
  return { wallet, accounts: wallet.accounts.map((account) => checkAccount(tree, account)) };
}

function checkAccount(tree: Tree, account: KitAccount): CheckedAccount {
  const { curve, path } = account;
  const key = isCurve(curve) ? tree.privateKey(curve, path) : undefined;
  return { ...account, ...checkAddress(account, curve, key) };
}

function checkPrivateKey(privateKey: KitPrivateKey): CheckedPrivateKey {
  const { curve, privateKey: hex } = privateKey;
  const key = /^[0-9a-f]{64}$/.test(hex) ? bytesOf(hex) : undefined;
  return { privateKey, addresses: privateKey.addresses.map((address) => checkAddress(address, curve, key)) };
}

interface WantedAddress {
  readonly addressFormat: string;
  readonly address: string;
}

function checkAddress(
  { addressFormat, address }: WantedAddress,
  curve: string,
  key: Uint8Array | undefined,
): CheckedAddress {
  const format = FORMATS.get(addressFormat);
  const wanted = { addressFormat, address };
  if (format === undefined || !isCurve(curve)) return { ...wanted, verdict: 'unknown' };
  // Of a format without such keys there is no address that could be the same.
  const fits = format.curves.includes(curve);
  const found = key === undefined || !fits ? undefined : computed(format, curve, key);
  if (found === undefined) return { ...wanted, verdict: 'different' };
  const { address: again, key: text } = found;
  if (again === address) return { ...wanted, verdict: 'same', key: text };
  return { ...wanted, verdict: 'different', computed: again, key: text };
}

/** Undefined for what is no key of the curve. */
function computed(format: Format, curve: Curve, key: Uint8Array) {
  try {
    const publicKey = publicKeyOf(curve, key);
    const { name, encode } = format.keyText ?? HEX;
    return { address: format.encode(publicKey), key: { name, text: encode(key, publicKey.bytes) } };
  } catch {
    return undefined;
  }
}

const HEX = {
  name: 'Hexadecimal',
  encode: (key: Uint8Array): string => [...key].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
};

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from({ length: hex.length / 2 }, (_, index) => Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16));
