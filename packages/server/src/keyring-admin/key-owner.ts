import { INSTALLATION_ID } from '@custos/keyring';
import { InstallationReader, InstallationStore } from '../core/store/installation.ts';
import { OrganizationStore } from '../core/store/organizations.ts';
import { type SealedColumn, SealedReader, SealedStore, sealedColumns } from '../core/store/sealed.ts';
import { dataModel } from '../domains.ts';
import type { OrganizationId } from '../lib/ids.ts';
import { StartError } from '../lib/start-error.ts';
import type { ReadStores, Stores } from '../storage/stores.ts';

/** Who has a key that secrets are under: an organization, or the deployment for what belongs to the service itself. */
export interface KeyOwner {
  readonly id: string;
  readonly name: string;
  /** Where what is under the key is stored. */
  readonly columns: readonly SealedColumn[];
  /** Behind which the rows of a column begin. */
  begin(column: SealedColumn): readonly string[] | undefined;
  /** The key as it is wrapped. */
  find(read: ReadStores): Promise<Uint8Array | undefined>;
  /** Until the end of the transaction nobody else stores anything under the key. */
  hold(store: Stores): Promise<void>;
  /** False when the key is another one by now. */
  exchange(store: Stores, from: Uint8Array, to: Uint8Array): Promise<boolean>;
}

export const ownerOf = (id: string): KeyOwner => (id === INSTALLATION_ID ? deployment : organization(id));

const columnsOf = (isDeployment: boolean): SealedColumn[] =>
  sealedColumns(dataModel.tables).filter((column) => (column.organizationId === INSTALLATION_ID) === isDeployment);

const organization = (id: string): KeyOwner => ({
  id,
  name: `organization ${id}`,
  columns: columnsOf(false),
  begin: ({ key }) => [id, ...key.slice(1).map(() => '')],
  find: (read) => read(SealedReader).organizationKey(id),
  hold: async (store) => {
    await store(OrganizationStore).lock(id as OrganizationId, 'exclusive');
  },
  exchange: (store, from, to) => store(SealedStore).exchangeOrganizationKey(id, from, to),
});

const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const deployment: KeyOwner = {
  id: INSTALLATION_ID,
  name: 'the deployment',
  columns: columnsOf(true),
  begin: () => undefined,
  find: async (read) => {
    const wrapped = await read(InstallationReader).get('deployment_key');
    return wrapped === undefined ? undefined : Buffer.from(wrapped, 'hex');
  },
  // Everybody who stores such a key writes the row of the wrapped key first.
  hold: async (store) => {
    const wrapped = (await store(InstallationStore).get('deployment_key')) ?? '';
    if (!(await store(InstallationStore).exchange('deployment_key', wrapped, wrapped)))
      throw new StartError('the key of the deployment was changed meanwhile: run the command again');
  },
  exchange: (store, from, to) => store(InstallationStore).exchange('deployment_key', toHex(from), toHex(to)),
};
