import { type AddressFormat, RECOVERY_KIT_BYTES_MAX, type RecoveryKitContents } from '@custos/keyring';
import { ApiError } from '../../lib/errors.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import type { Page, PageRequest } from '../../lib/pagination.ts';
import type { ReadStores } from '../../storage/stores.ts';
import { PrivateKeyReader } from '../wallets/store/private-keys.ts';
import { WalletReader } from '../wallets/store/wallets.ts';

type Wallets = RecoveryKitContents['wallets'];
type PrivateKeys = RecoveryKitContents['privateKeys'];
type Accounts = Wallets[number]['accounts'];

const PAGE_ROWS = 1000;

/** Names of members and lengths, of one thing with everything in it but its texts and bytes. */
const ENTRY_BYTES = 160;

/** What is counted while a kit's contents are read. */
interface Size {
  bytes: number;
}

/** Whether there is anything that a kit could hold. */
export async function hasKeys(read: ReadStores, organizationId: OrganizationId): Promise<boolean> {
  const one: PageRequest = { kind: 'page', limit: 1 };
  const wallets = await read(WalletReader).page(organizationId, one);
  if (wallets.items.length > 0) return true;
  return (await read(PrivateKeyReader).page(organizationId, one)).items.length > 0;
}

/**
 * All wallets and private keys of the organization itself. Whatever was there before this began is in it, unless it is
 * deleted meanwhile; what comes meanwhile may be.
 */
export async function readContents(
  read: ReadStores,
  organizationId: OrganizationId,
): Promise<Pick<RecoveryKitContents, 'wallets' | 'privateKeys'>> {
  const size: Size = { bytes: 0 };
  const wallets = await readWallets(read, organizationId, size);
  const privateKeys: PrivateKeys[number][] = [];
  for await (const key of all((page) => read(PrivateKeyReader).page(organizationId, page))) {
    const addresses = key.addresses.map(({ format, address }) => ({
      addressFormat: format as AddressFormat,
      address,
    }));
    count(size, key.sealedKey.length, key.name, ...addresses.flatMap(({ address }) => [address, '']));
    privateKeys.push({ privateKeyId: key.id, name: key.name, sealedKey: key.sealedKey, addresses });
  }
  return { wallets, privateKeys };
}

async function readWallets(read: ReadStores, organizationId: OrganizationId, size: Size): Promise<Wallets> {
  const wallets = new Map<string, Wallets[number] & { readonly accounts: Accounts[number][] }>();
  for await (const { id, name, sealedSeed } of all((page) => read(WalletReader).page(organizationId, page))) {
    count(size, sealedSeed.length, name);
    wallets.set(id, { walletId: id, name, sealedSeed, accounts: [] });
  }
  for await (const account of all((page) => read(WalletReader).accounts(organizationId, undefined, page))) {
    const { walletId, name, curve, path, addressFormat, address } = account;
    count(size, 0, name ?? '', path, address);
    // One of a wallet that came meanwhile has no place here.
    wallets.get(walletId)?.accounts.push({
      ...(name !== undefined && { name }),
      curve,
      path,
      addressFormat: addressFormat as AddressFormat,
      address,
    });
  }
  return [...wallets.values()];
}

async function* all<Item extends { readonly id: string }>(
  readPage: (request: PageRequest) => Promise<Page<Item>>,
): AsyncGenerator<Item> {
  for (let after: string | undefined; ; ) {
    const { items, pageInfo } = await readPage({
      kind: 'page',
      limit: PAGE_ROWS,
      ...(after !== undefined && { after }),
    });
    yield* items;
    if (!pageInfo.hasNextPage) return;
    after = pageInfo.endCursor;
  }
}

/** As the line to the keyring packs it, or more. */
function count(size: Size, bytes: number, ...texts: readonly string[]): void {
  size.bytes += ENTRY_BYTES + bytes + texts.reduce((sum, text) => sum + 40 + 2 * text.length, 0);
  if (size.bytes <= RECOVERY_KIT_BYTES_MAX) return;
  throw new ApiError(
    'FAILED_PRECONDITION',
    `a recovery kit holds ${RECOVERY_KIT_BYTES_MAX / 1024 / 1024} MiB of wallets, accounts and private keys, some 20,000 wallets with two accounts each, and this organization has more: export them in other ways, or keep them in sub-organizations, each of which makes a kit of its own`,
  );
}
