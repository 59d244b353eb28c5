import { expect } from 'vitest';
import { ETHEREUM, newWallet, newWalletImport, opensTo, RECEIVER, SOLANA } from '../../../../test/fixtures/keys.ts';
import { encryptTo, KNOWN_WALLET, newImportTarget, Receiver } from '../../../../test/harness/bundles.ts';
import type { TestClient } from '../../../../test/harness/client.ts';
import type { DomainCases } from '../../../../test/operations/domain-cases.ts';
import {
  anEthereumAddress,
  anId,
  EMPTY_PAGE,
  gone,
  notFound,
  PAGE_INFO,
  TIMESTAMP,
  type World,
} from '../../../../test/operations/every-case.ts';
import { another, byRoot, fresh } from '../../../../test/operations/hostile-case.ts';
import { initImport, isKeyOf } from './shared.ts';

const aSolanaAddress = expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);

const wallets = async (reader: TestClient) => (await reader.query('list_wallets')).body.wallets;

const accounts = async (reader: TestClient) => (await reader.query('list_wallet_accounts')).body.accounts;

function statusOf(query: string, parameters: Record<string, unknown>) {
  return async (reader: TestClient): Promise<number> => (await reader.query(query, parameters)).status;
}

async function onlyWallet({ root }: World): Promise<{ walletId: string }> {
  return { walletId: (await newWallet(root)).walletId };
}

const WALLET = {
  walletId: anId,
  walletName: expect.stringMatching(/^Wallet /),
  createdAt: TIMESTAMP,
  updatedAt: TIMESTAMP,
  exported: false,
  imported: false,
};

const account = (organizationId: string) => ({
  ...ETHEREUM,
  name: expect.stringMatching(/^Wallet .* account$/),
  walletAccountId: anId,
  organizationId,
  walletId: anId,
  address: anEthereumAddress,
  publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
  caip2Prefix: 'eip155',
  createdAt: TIMESTAMP,
  updatedAt: TIMESTAMP,
});

export const walletCases: DomainCases = {
  create_wallet: {
    activity: {
      intentKey: 'createWalletIntent',
      resultKey: 'createWalletResult',
      arrange: async () => ({
        parameters: { walletName: 'New', accounts: [{ ...ETHEREUM, name: 'First' }, SOLANA], mnemonicLength: 24 },
        result: { walletId: anId, addresses: [anEthereumAddress, aSolanaAddress] },
        holds: async (reader) => {
          const [wallet, ...more] = await wallets(reader);
          expect(more).toEqual([]);
          const times = { createdAt: TIMESTAMP, updatedAt: TIMESTAMP };
          expect(wallet).toEqual({ walletId: anId, walletName: 'New', exported: false, imported: false, ...times });
          const { walletId } = wallet;
          const shape = { walletAccountId: anId, organizationId: reader.organizationId, walletId, ...times };
          expect(await accounts(reader)).toEqual([
            {
              ...shape,
              ...ETHEREUM,
              name: 'First',
              address: anEthereumAddress,
              publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
              caip2Prefix: 'eip155',
            },
            {
              ...shape,
              ...SOLANA,
              address: aSolanaAddress,
              publicKey: expect.stringMatching(/^[0-9a-f]{64}$/),
              caip2Prefix: 'solana',
            },
          ]);
        },
        absent: async (reader) => expect(await wallets(reader)).toEqual([]),
      }),
    },
    hostile: byRoot((tenant) => ({
      walletName: fresh(tenant),
      accounts: [{ ...ETHEREUM, name: fresh(tenant) }],
      mnemonicLength: 12,
    })),
  },
  update_wallet: {
    activity: {
      intentKey: 'updateWalletIntent',
      resultKey: 'updateWalletResult',
      arrange: async ({ root }) => {
        const { walletId } = await newWallet(root);
        const name = async (reader: TestClient) => (await wallets(reader))[0].walletName;
        return {
          parameters: { walletId, walletName: 'Renamed' },
          result: { walletId },
          holds: async (reader) => expect(await name(reader)).toBe('Renamed'),
          absent: async (reader) => expect(await name(reader)).not.toBe('Renamed'),
        };
      },
      foreign: async (_world, other) => notFound({ ...(await onlyWallet(other)), walletName: 'Renamed' }),
    },
    hostile: byRoot((tenant) => ({ walletId: tenant.ids.wallet, walletName: fresh(tenant) })),
  },
  delete_wallets: {
    activity: {
      intentKey: 'deleteWalletsIntent',
      resultKey: 'deleteWalletsResult',
      arrange: async ({ root }) => {
        const { walletId } = await newWallet(root);
        const kept = await newWallet(root);
        return {
          parameters: { walletIds: [walletId], deleteWithoutExport: true },
          result: { walletIds: [walletId] },
          holds: async (reader) => {
            expect(await statusOf('get_wallet', { walletId })(reader)).toBe(404);
            expect(await accounts(reader)).toMatchObject([{ address: kept.address }]);
          },
          absent: async (reader) => {
            expect(await statusOf('get_wallet', { walletId })(reader)).toBe(200);
            expect(await accounts(reader)).toHaveLength(2);
          },
        };
      },
      foreign: async ({ root }, other) => {
        const walletIds = [(await newWallet(root)).walletId, (await newWallet(other.root)).walletId];
        return notFound({ walletIds, deleteWithoutExport: true });
      },
    },
    hostile: byRoot(async (tenant) => ({
      walletIds: [(await newWallet(tenant.root, fresh(tenant))).walletId],
      deleteWithoutExport: true,
    })),
  },
  create_wallet_accounts: {
    activity: {
      intentKey: 'createWalletAccountsIntent',
      resultKey: 'createWalletAccountsResult',
      arrange: async ({ root }) => {
        const { walletId } = await newWallet(root);
        return {
          parameters: { walletId, accounts: [SOLANA] },
          result: { addresses: [aSolanaAddress] },
          holds: async (reader) => expect(await accounts(reader)).toMatchObject([ETHEREUM, { ...SOLANA, walletId }]),
          absent: async (reader) => expect(await accounts(reader)).toMatchObject([ETHEREUM]),
        };
      },
      foreign: async (_world, other) => notFound({ ...(await onlyWallet(other)), accounts: [SOLANA] }),
    },
    hostile: byRoot((tenant) => ({
      walletId: tenant.ids.wallet,
      accounts: [{ ...ETHEREUM, path: `m/44'/60'/${another()}'/0/0`, name: fresh(tenant) }],
      persist: true,
    })),
  },
  delete_wallet_accounts: {
    activity: {
      intentKey: 'deleteWalletAccountsIntent',
      resultKey: 'deleteWalletAccountsResult',
      arrange: async ({ root }) => {
        const { walletId, walletAccountId, address } = await newWallet(root);
        return {
          parameters: { walletAccountIds: [walletAccountId], deleteWithoutExport: true },
          result: { walletAccountIds: [walletAccountId] },
          ...gone('get_wallet_account', { walletId, address }),
        };
      },
      foreign: async ({ root }, other) => {
        const walletAccountIds = [
          (await newWallet(root)).walletAccountId,
          (await newWallet(other.root)).walletAccountId,
        ];
        return notFound({ walletAccountIds, deleteWithoutExport: true });
      },
    },
    hostile: byRoot(async (tenant) => ({
      walletAccountIds: [(await newWallet(tenant.root, fresh(tenant))).walletAccountId],
      deleteWithoutExport: true,
    })),
  },
  export_wallet: {
    activity: {
      intentKey: 'exportWalletIntent',
      resultKey: 'exportWalletResult',
      arrange: async ({ root }) => {
        const { walletId } = await newWallet(root);
        const receiver = new Receiver();
        const isMnemonic = (plaintext: Buffer) => /^[a-z]+( [a-z]+){11}$/.test(plaintext.toString());
        const exported = async (reader: TestClient) => (await wallets(reader))[0].exported;
        return {
          parameters: { walletId, targetPublicKey: receiver.publicKey },
          result: { walletId, exportBundle: opensTo(receiver, root, isMnemonic) },
          holds: async (reader) => expect(await exported(reader)).toBe(true),
          absent: async (reader) => expect(await exported(reader)).toBe(false),
        };
      },
      foreign: async (_world, other) =>
        notFound({ ...(await onlyWallet(other)), targetPublicKey: new Receiver().publicKey }),
    },
    hostile: byRoot((tenant) => ({
      walletId: tenant.ids.wallet,
      targetPublicKey: RECEIVER.publicKey,
      language: 'MNEMONIC_LANGUAGE_ENGLISH',
    })),
  },
  export_wallet_account: {
    activity: {
      intentKey: 'exportWalletAccountIntent',
      resultKey: 'exportWalletAccountResult',
      arrange: async ({ root }) => {
        const { address, publicKey } = await newWallet(root);
        const receiver = new Receiver();
        const isUnmarked = async (reader: TestClient) =>
          expect(await wallets(reader)).toMatchObject([{ exported: false }]);
        return {
          parameters: { address, targetPublicKey: receiver.publicKey },
          result: { address, exportBundle: opensTo(receiver, root, isKeyOf(publicKey)) },
          // The mark of an account shows only when it is deleted; its wallet stays unmarked (protocol/wallets 5.2).
          holds: isUnmarked,
          absent: isUnmarked,
        };
      },
      foreign: async (_world, other) => {
        const { address } = await newWallet(other.root);
        return notFound({ address, targetPublicKey: new Receiver().publicKey });
      },
    },
    hostile: byRoot((tenant) => ({
      address: tenant.ids.address,
      targetPublicKey: RECEIVER.publicKey,
    })),
  },
  init_import_wallet: {
    activity: initImport('wallet', 'Wallet'),
    hostile: byRoot((tenant) => ({ userId: tenant.root.userId })),
  },
  import_wallet: {
    activity: {
      isForProposer: true,
      intentKey: 'importWalletIntent',
      resultKey: 'importWalletResult',
      arrange: async ({ root }) => {
        const encryptedBundle = encryptTo(await newImportTarget(root, 'wallet'), KNOWN_WALLET.mnemonic);
        return {
          parameters: { userId: root.userId, walletName: 'Imported', encryptedBundle, accounts: [ETHEREUM] },
          result: { walletId: anId, addresses: [KNOWN_WALLET.address] },
          holds: async (reader) => {
            expect(await wallets(reader)).toMatchObject([{ walletName: 'Imported', exported: false, imported: true }]);
            expect(await accounts(reader)).toMatchObject([{ ...ETHEREUM, address: KNOWN_WALLET.address }]);
          },
          absent: async (reader) => expect(await wallets(reader)).toEqual([]),
        };
      },
      foreign: async ({ root }, other) => {
        const encryptedBundle = encryptTo(await newImportTarget(root, 'wallet'), KNOWN_WALLET.mnemonic);
        const parameters = { userId: other.root.userId, walletName: 'x', encryptedBundle, accounts: [] };
        return { parameters, status: 403, code: 'REQUEST_NOT_AUTHORIZED' };
      },
    },
    hostile: byRoot((tenant) => newWalletImport(tenant.root, fresh(tenant))),
  },
  get_wallet: {
    query: { parameters: onlyWallet, answer: () => ({ wallet: WALLET }) },
    hostile: byRoot((tenant) => ({ walletId: tenant.ids.wallet })),
  },
  list_wallets: {
    query: { answer: () => ({ wallets: [], pageInfo: EMPTY_PAGE }) },
    hostile: byRoot(() => ({})),
  },
  get_wallet_account: {
    query: {
      parameters: async (world) => ({ ...(await onlyWallet(world)), path: ETHEREUM.path }),
      answer: ({ root }) => ({ account: account(root.organizationId) }),
    },
    hostile: byRoot((tenant) => ({
      walletId: tenant.ids.wallet,
      address: tenant.ids.address,
      path: ETHEREUM.path,
    })),
  },
  list_wallet_accounts: {
    query: {
      parameters: async (world) => ({ ...(await onlyWallet(world)), includeWalletDetails: true }),
      answer: ({ root }) => ({
        accounts: [{ ...account(root.organizationId), walletDetails: WALLET }],
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot((tenant) => ({ walletId: tenant.ids.wallet, includeWalletDetails: true })),
  },
};
