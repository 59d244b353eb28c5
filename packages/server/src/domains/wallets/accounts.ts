import { type AccountSpec, type AddressFormat, type DerivedAccount, hasFormat, parsePath } from '@custos/keyring';
import { type Curve, treeRoot } from '../../core/model.ts';
import { TreeStore } from '../../core/store/tree.ts';
import type { ExecuteContext } from '../../engine/define.ts';
import { firstDuplicate } from '../../lib/collections.ts';
import { invalidField } from '../../lib/errors.ts';
import type { WalletId } from '../../lib/ids.ts';
import type { WalletAccount } from './model.ts';
import type { WalletAccountParams } from './shapes.ts';
import { WalletStore } from './store/wallets.ts';

/**
 * The rules on accounts that need no key: the path's grammar, the format on its curve, names that differ
 * (protocol/wallets 2.2).
 */
export function checkAccounts(accounts: readonly WalletAccountParams[], field: string): void {
  for (const [index, { path, curve, addressFormat }] of accounts.entries()) {
    try {
      parsePath(path);
    } catch {
      throw invalidField(
        `${field}.${index}.path`,
        "must look like m/44'/60'/0'/0/0, with 1 to 10 levels",
        'INVALID_PATH',
      );
    }
    checkFormat(curve, addressFormat, `${field}.${index}.addressFormat`);
  }
  const names = accounts.flatMap(({ name }) => (name === undefined ? [] : [name]));
  if (firstDuplicate(names) !== undefined) throw invalidField(field, 'names two accounts alike');
}

export function checkFormat(curve: string, format: string, field: string): void {
  if (!hasFormat(curve as Curve, format as AddressFormat)) {
    throw invalidField(field, `${format} does not exist on ${curve}`, 'INVALID_ADDRESS_FORMAT');
  }
}

export const toSpecs = (accounts: readonly WalletAccountParams[]): AccountSpec[] =>
  accounts.map(({ curve, path, addressFormat }) => ({
    curve: curve as Curve,
    path,
    addressFormat,
  }));

/** Inserts derived accounts and lets the parent find a sub-organization by their addresses. */
export async function addAccounts(
  { store, actor, newId, nowMs }: ExecuteContext,
  { id: walletId }: { readonly id: WalletId },
  params: readonly WalletAccountParams[],
  derived: readonly DerivedAccount[],
  organizationId = actor.organizationId,
): Promise<WalletAccount[]> {
  const accounts = params.map((param, index): WalletAccount => {
    const { path, pathKey, publicKey, address } = derived[index] as DerivedAccount;
    return {
      id: newId(),
      walletId,
      name: param.name,
      curve: param.curve as Curve,
      path,
      pathKey,
      addressFormat: param.addressFormat,
      address,
      publicKey,
      exported: false,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
  });
  await store(WalletStore).insertAccounts(organizationId, accounts);
  await store(TreeStore).add(
    organizationId === actor.organizationId ? treeRoot(actor.organization) : actor.organizationId,
    organizationId,
    accounts.map((account) => ({ kind: 'WALLET_ACCOUNT_ADDRESS', value: account.address, ownerId: account.id })),
  );
  return accounts;
}
