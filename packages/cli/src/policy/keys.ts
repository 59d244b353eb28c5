import type { Namespaces } from '@custos/server/policy';
import {
  ethereumAddress,
  privateKeyFacts,
  type SignerAccount,
  walletAccountFacts,
  walletFacts,
} from '@custos/server/policy-facts';
import { type Cursor, required } from './cursor.ts';

/** A key that a request can sign with, and what policies see of it. */
export interface TestKey {
  readonly account: SignerAccount;
  readonly addresses: readonly SignerAccount[];
  readonly namespaces: Namespaces;
}

/** By what signWith names. */
export type TestKeys = ReadonlyMap<string, TestKey>;

const CURVES = ['CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256'] as const;
const PUBLIC_KEY = /^(?:0[23])?[0-9a-f]{64}$/;
const PATH = /^m(?:\/[0-9]+'?)+$/;

const WALLET_FIELDS = ['walletId', 'walletName', 'imported', 'exported', 'accounts', 'createdAt', 'updatedAt'] as const;
const ACCOUNT_FIELDS = [
  'walletAccountId',
  'organizationId',
  'walletId',
  'name',
  'curve',
  'pathFormat',
  'path',
  'addressFormat',
  'address',
  'publicKey',
  'caip2Prefix',
  'createdAt',
  'updatedAt',
] as const;
const PRIVATE_KEY_FIELDS = [
  'privateKeyId',
  'privateKeyName',
  'curve',
  'publicKey',
  'addresses',
  'privateKeyTags',
  'imported',
  'exported',
  'createdAt',
  'updatedAt',
] as const;

/** Wallets with their accounts, and private keys, in the fields that the queries of the service answer. */
export function readKeys(wallets: Cursor | undefined, privateKeys: Cursor | undefined): TestKeys {
  const keys = new Map<string, TestKey>();
  const add = (cursor: Cursor, names: readonly string[], key: TestKey): void => {
    for (const name of names) {
      if (keys.has(nameKey(name))) cursor.fail(`there is another key by the name of ${name}`);
      keys.set(nameKey(name), key);
    }
  };
  for (const wallet of wallets?.items('"wallets"') ?? []) readWallet(wallet, add);
  for (const key of privateKeys?.items('"privateKeys"') ?? []) readPrivateKey(key, add);
  return keys;
}

export const findKey = (keys: TestKeys, signWith: string): TestKey | undefined => keys.get(nameKey(signWith));

/** Ethereum addresses are the same in any case; every other name is compared as it is. */
const nameKey = (name: string): string => (/^0x[0-9a-fA-F]{40}$/.test(name) ? name.toLowerCase() : name);

type Add = (cursor: Cursor, names: readonly string[], key: TestKey) => void;

function readWallet(cursor: Cursor, add: Add): void {
  const members = cursor.members('a wallet', WALLET_FIELDS);
  const wallet = walletFacts({
    id: required(cursor, members, 'walletId').text('"walletId"') as never,
    name: members.walletName?.text('"walletName"') ?? '',
    imported: members.imported?.flag('"imported"') ?? false,
    exported: members.exported?.flag('"exported"') ?? false,
  });
  for (const item of required(cursor, members, 'accounts').items('"accounts"')) {
    const fields = item.members('a wallet account', ACCOUNT_FIELDS);
    const account: SignerAccount = {
      ...readPublicKey(item, fields),
      address: required(item, fields, 'address').text('"address"'),
      addressFormat: required(item, fields, 'addressFormat').text('"addressFormat"'),
    };
    requireOwnAddress(item, account);
    const path = required(item, fields, 'path').text('"path"');
    if (!PATH.test(path)) item.fail(`"path" is a derivation path such as m/44'/60'/0'/0/0`, ['path']);
    // Ed25519 hardens every level, whatever is written.
    const pathKey = account.curve === 'CURVE_ED25519' ? path.replace(/\d(?=\/|$)/g, "$&'") : path;
    const id = fields.walletAccountId?.text('"walletAccountId"');
    add(item, id === undefined ? [account.address] : [account.address, id], {
      account,
      addresses: [account],
      namespaces: { wallet, wallet_account: walletAccountFacts({ address: account.address, pathKey }) },
    });
  }
}

function readPrivateKey(cursor: Cursor, add: Add): void {
  const members = cursor.members('a private key', PRIVATE_KEY_FIELDS);
  const key = readPublicKey(cursor, members);
  const id = required(cursor, members, 'privateKeyId').text('"privateKeyId"');
  const tagIds = (members.privateKeyTags?.items('"privateKeyTags"') ?? []).map((tag) => tag.text('a tag'));
  const namespaces: Namespaces = {
    private_key: privateKeyFacts({
      id: id as never,
      name: members.privateKeyName?.text('"privateKeyName"') ?? '',
      tagIds: tagIds as never,
      imported: members.imported?.flag('"imported"') ?? false,
      exported: members.exported?.flag('"exported"') ?? false,
    }),
  };
  const addresses = (members.addresses?.items('"addresses"') ?? []).map((item): SignerAccount => {
    const fields = item.members('an address', ['format', 'address']);
    const account: SignerAccount = {
      ...key,
      address: required(item, fields, 'address').text('"address"'),
      addressFormat: required(item, fields, 'format').text('"format"'),
    };
    requireOwnAddress(item, account);
    add(item, [account.address], { account, addresses: [account], namespaces });
    return account;
  });
  // A key named by its id has no format, so it signs plainly.
  const plain: SignerAccount = {
    ...key,
    address: Buffer.from(key.publicKey).toString('hex'),
    addressFormat: 'ADDRESS_FORMAT_COMPRESSED',
  };
  add(cursor, [id], { account: plain, addresses, namespaces });
}

function readPublicKey(
  owner: Cursor,
  members: Partial<Record<'curve' | 'publicKey', Cursor>>,
): Pick<SignerAccount, 'curve' | 'publicKey'> {
  const curve = required(owner, members, 'curve').oneOf('"curve"', CURVES);
  const cursor = required(owner, members, 'publicKey');
  const hex = cursor.text('"publicKey"');
  const isLong = hex.length === 66;
  if (!PUBLIC_KEY.test(hex) || isLong === (curve === 'CURVE_ED25519')) {
    cursor.fail(`"publicKey" is the compressed public key of ${curve} in lower case hex`);
  }
  return { curve, publicKey: Buffer.from(hex, 'hex') };
}

/** A wrong pair would make eth.tx.from another address than the one that signs. */
function requireOwnAddress(cursor: Cursor, { curve, publicKey, address, addressFormat }: SignerAccount): void {
  if (curve !== 'CURVE_SECP256K1') return;
  const own = addressOf(cursor, publicKey);
  if (addressFormat === 'ADDRESS_FORMAT_ETHEREUM' && address.toLowerCase() !== own) {
    cursor.fail(`"address" is not the one of this public key, which is ${own}`, ['address']);
  }
}

function addressOf(cursor: Cursor, publicKey: Uint8Array): string {
  try {
    return ethereumAddress(publicKey);
  } catch {
    return cursor.fail('"publicKey" is not a point of CURVE_SECP256K1', ['publicKey']);
  }
}
