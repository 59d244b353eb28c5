import { randomBytes } from 'node:crypto';
import { encryptTo, KNOWN_WALLET, newImportTarget, newSecretTargets } from '../harness/bundles.ts';
import type { TestClient } from '../harness/client.ts';

// Wallets, private keys and secrets as requests make them, and what names them.

export const SUITE = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';

export const ETHEREUM = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
} as const;

/** A payload that every secp256k1 key signs. */
export const PAYLOAD = {
  payload: 'c0ffee',
  encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
  hashFunction: 'HASH_FUNCTION_KECCAK256',
} as const;

/** A payment of nothing, unsigned, of type 2 (EIP-1559). */
export const TRANSACTION = {
  type: 'TRANSACTION_TYPE_ETHEREUM',
  unsignedTransaction: `02df0180010182520894${'11'.repeat(20)}8080c0`,
} as const;

export interface NewWallet {
  readonly walletId: string;
  readonly walletAccountId: string;
  readonly address: string;
}

export async function newWallet(client: TestClient, walletName: string): Promise<NewWallet> {
  const accounts = [{ ...ETHEREUM, name: `${walletName} account` }];
  const { walletId } = await client.run('create_wallet', { walletName, accounts });
  const { body } = await client.query('list_wallet_accounts', { walletId });
  const [{ walletAccountId, address }] = body.accounts;
  return { walletId, walletAccountId, address };
}

export const keyParams = (privateKeyName: string, privateKeyTags: readonly string[]) => ({
  privateKeyName,
  curve: 'CURVE_SECP256K1',
  privateKeyTags,
  addressFormats: ['ADDRESS_FORMAT_ETHEREUM', 'ADDRESS_FORMAT_COMPRESSED'],
});

export async function newPrivateKey(
  client: TestClient,
  name: string,
  tags: readonly string[] = [],
): Promise<{ privateKeyId: string; address: string }> {
  const { privateKeys } = await client.run('create_private_keys', { privateKeys: [keyParams(name, tags)] });
  return { privateKeyId: privateKeys[0].privateKeyId, address: privateKeys[0].addresses[0].address };
}

export async function newKeyTag(client: TestClient, privateKeyTagName: string): Promise<string> {
  return (await client.run('create_private_key_tag', { privateKeyTagName, privateKeyIds: [] })).privateKeyTagId;
}

export const secretParams = (name: string, targetPublicKey: string) => ({
  name,
  secretPayload: encryptTo(targetPublicKey, `what ${name} hides`),
  targetPublicKey,
  encryptionSuite: SUITE,
  staticProperties: [{ key: 'name', value: name }],
});

export async function newSecret(client: TestClient, name: string): Promise<string> {
  const [target = ''] = await newSecretTargets(client);
  return (await client.run('import_secrets', { secrets: [secretParams(name, target)] })).secretIds[0];
}

/** The request of an import of the known mnemonic, encrypted to this target. */
export const walletImport = (client: TestClient, walletName: string, targetPublicKey: string) => ({
  userId: client.userId,
  walletName,
  encryptedBundle: encryptTo(targetPublicKey, KNOWN_WALLET.mnemonic),
  accounts: [{ ...ETHEREUM, name: `${walletName} account` }],
});

/** The request of an import of a random key, encrypted to this target. */
export const keyImport = (client: TestClient, privateKeyName: string, targetPublicKey: string) => ({
  userId: client.userId,
  privateKeyName,
  encryptedBundle: encryptTo(targetPublicKey, randomBytes(32)),
  curve: 'CURVE_ED25519',
  addressFormats: ['ADDRESS_FORMAT_SOLANA'],
});

export const newWalletImport = async (client: TestClient, name: string) =>
  walletImport(client, name, await newImportTarget(client, 'wallet'));

export const newKeyImport = async (client: TestClient, name: string) =>
  keyImport(client, name, await newImportTarget(client, 'private_key'));
