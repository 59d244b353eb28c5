import { type AddressFormat, caip2Prefix } from '@custos/keyring';
import { toTimestamp } from '../../lib/clock.ts';
import type { PrivateKey, Wallet, WalletAccount } from './model.ts';

export function renderWallet(wallet: Wallet) {
  return {
    walletId: wallet.id,
    walletName: wallet.name,
    createdAt: toTimestamp(wallet.createdAtMs),
    updatedAt: toTimestamp(wallet.updatedAtMs),
    exported: wallet.exported,
    imported: wallet.imported,
  };
}

/** The wallet is shown when it was asked for. */
export function renderAccount(organizationId: string, account: WalletAccount, wallet: Wallet | undefined) {
  const prefix = caip2Prefix(account.addressFormat as AddressFormat);
  return {
    walletAccountId: account.id,
    organizationId,
    walletId: account.walletId,
    curve: account.curve,
    pathFormat: 'PATH_FORMAT_BIP32' as const,
    path: account.path,
    addressFormat: account.addressFormat,
    address: account.address,
    createdAt: toTimestamp(account.createdAtMs),
    updatedAt: toTimestamp(account.updatedAtMs),
    publicKey: account.publicKey,
    ...(wallet !== undefined && { walletDetails: renderWallet(wallet) }),
    ...(account.name !== undefined && { name: account.name }),
    ...(prefix !== undefined && { caip2Prefix: prefix }),
  };
}

export function renderPrivateKey(key: PrivateKey) {
  return {
    privateKeyId: key.id,
    publicKey: key.publicKey,
    privateKeyName: key.name,
    curve: key.curve,
    addresses: key.addresses.map(({ format, address }) => ({ format, address })),
    privateKeyTags: [...key.tagIds] as string[],
    createdAt: toTimestamp(key.createdAtMs),
    updatedAt: toTimestamp(key.updatedAtMs),
    exported: key.exported,
    imported: key.imported,
  };
}
