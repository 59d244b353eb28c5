import type { Domain } from '../../engine/domain.ts';
import { names } from './names.ts';
import { createPrivateKeyTag } from './operations/create-private-key-tag.ts';
import { createPrivateKeys } from './operations/create-private-keys.ts';
import { createWallet } from './operations/create-wallet.ts';
import { createWalletAccounts } from './operations/create-wallet-accounts.ts';
import { deletePrivateKeyTags } from './operations/delete-private-key-tags.ts';
import { deletePrivateKeys } from './operations/delete-private-keys.ts';
import { deleteWalletAccounts } from './operations/delete-wallet-accounts.ts';
import { deleteWallets } from './operations/delete-wallets.ts';
import { exportPrivateKey } from './operations/export-private-key.ts';
import { exportWallet } from './operations/export-wallet.ts';
import { exportWalletAccount } from './operations/export-wallet-account.ts';
import { getPrivateKey } from './operations/get-private-key.ts';
import { getWallet } from './operations/get-wallet.ts';
import { getWalletAccount } from './operations/get-wallet-account.ts';
import { importPrivateKey } from './operations/import-private-key.ts';
import { importWallet } from './operations/import-wallet.ts';
import { initImportPrivateKey } from './operations/init-import-private-key.ts';
import { initImportWallet } from './operations/init-import-wallet.ts';
import { listPrivateKeyTags } from './operations/list-private-key-tags.ts';
import { listPrivateKeys } from './operations/list-private-keys.ts';
import { listWalletAccounts } from './operations/list-wallet-accounts.ts';
import { listWallets } from './operations/list-wallets.ts';
import { updatePrivateKeyTag } from './operations/update-private-key-tag.ts';
import { updateWallet } from './operations/update-wallet.ts';
import { tables } from './tables.ts';

export const wallets: Domain = {
  name: 'wallets',
  operations: [
    createPrivateKeyTag,
    createPrivateKeys,
    createWalletAccounts,
    createWallet,
    deletePrivateKeyTags,
    deletePrivateKeys,
    deleteWalletAccounts,
    deleteWallets,
    exportPrivateKey,
    exportWalletAccount,
    exportWallet,
    getPrivateKey,
    getWalletAccount,
    getWallet,
    importPrivateKey,
    importWallet,
    initImportPrivateKey,
    initImportWallet,
    listPrivateKeyTags,
    listPrivateKeys,
    listWalletAccounts,
    listWallets,
    updatePrivateKeyTag,
    updateWallet,
  ],
  tables,
  names,
};
