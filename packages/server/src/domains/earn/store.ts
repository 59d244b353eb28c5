import { type Selectable, sql } from 'kysely';
import type { SendBlock } from '../../chains/send/model.ts';
import { ApiError } from '../../lib/errors.ts';
import type { EarnRequestId, OrganizationId, SendId } from '../../lib/ids.ts';
import { amendOne } from '../../storage/integrity/amend.ts';
import { findRow } from '../../storage/organization-rows.ts';
import { insertion } from '../../storage/statement.ts';
import { Reader } from '../../storage/store.ts';
import type { ChainSendTable } from '../sends/tables.ts';
import type { EarnMovement, EarnProvider, EarnRequest, EarnRequestKind, EarnTotals, EarnWrapper } from './model.ts';
import type { EarnRequestTable, EarnWrapperTable } from './tables.ts';

const toWrapper = (row: Selectable<EarnWrapperTable>): EarnWrapper => ({
  organizationId: row.organization_id as OrganizationId,
  caip2: row.caip2,
  wrapperAddress: row.wrapper_address,
  splitterAddress: row.splitter_address,
  vaultAddress: row.vault_address,
  provider: (row.provider as EarnProvider | '') || undefined,
  assetAddress: row.asset_address,
  assetSymbol: row.asset_symbol,
  assetDecimals: row.asset_decimals,
  clientFeeBps: row.client_fee_bps,
  clientFeeWallet: row.client_fee_wallet,
  serviceFeeBps: row.service_fee_bps,
  serviceFeeWallet: row.service_fee_wallet ?? undefined,
  depositsDisabled: row.deposits_disabled === 1,
  deployRequestId: row.deploy_request_id as EarnRequestId,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

const toRequest = (row: Selectable<EarnRequestTable>): EarnRequest => ({
  organizationId: row.organization_id as OrganizationId,
  id: row.id as EarnRequestId,
  kind: row.kind as EarnRequestKind,
  caip2: row.caip2,
  wrapperAddress: row.wrapper_address,
  walletAddress: row.wallet_address,
  amount: row.amount,
  sendId: (row.send_id as SendId | null) ?? undefined,
  createdAtMs: row.created_at_ms,
});

const insertWrappers = insertion('earn-wrapper-insert', 'earn_wrapper', [
  'organization_id',
  'caip2',
  'wrapper_address',
  'splitter_address',
  'vault_address',
  'provider',
  'asset_address',
  'asset_symbol',
  'asset_decimals',
  'client_fee_bps',
  'client_fee_wallet',
  'service_fee_bps',
  'service_fee_wallet',
  'deposits_disabled',
  'deploy_request_id',
  'created_at_ms',
  'updated_at_ms',
]);
const insertRequests = insertion('earn-request-insert', 'earn_request', [
  'organization_id',
  'id',
  'kind',
  'caip2',
  'wrapper_address',
  'wallet_address',
  'amount',
  'send_id',
  'created_at_ms',
]);

/** Fee wrappers of organizations, and what was asked of them. */
export class EarnReader extends Reader {
  /** The wrappers at an address, which is the same on several chains where the terms are. */
  async wrappersAt(organizationId: OrganizationId, wrapperAddress: string): Promise<EarnWrapper[]> {
    const rows = await this.db
      .selectFrom('earn_wrapper')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('wrapper_address', '=', wrapperAddress)
      .orderBy('caip2')
      .execute();
    return rows.map(toWrapper);
  }

  async findWrapper(
    organizationId: OrganizationId,
    caip2: string,
    wrapperAddress: string,
  ): Promise<EarnWrapper | undefined> {
    const wrappers = await this.wrappersAt(organizationId, wrapperAddress);
    return wrappers.find((wrapper) => wrapper.caip2 === caip2);
  }

  /** All of an organization, the oldest first. */
  async wrappers(organizationId: OrganizationId): Promise<EarnWrapper[]> {
    const rows = await this.db
      .selectFrom('earn_wrapper')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .orderBy('created_at_ms')
      .orderBy('caip2')
      .orderBy('wrapper_address')
      .execute();
    return rows.map(toWrapper);
  }

  async getRequest(organizationId: OrganizationId, kind: EarnRequestKind, id: string): Promise<EarnRequest> {
    const row = await findRow(this.db, 'earn_request', organizationId, id);
    if (row === undefined || row.kind !== kind) {
      throw new ApiError('RESOURCE_NOT_FOUND', `${kind} request not found in this organization`);
    }
    return toRequest(row);
  }

  /** What a wallet of some organizations has ever put in and taken out, of each wrapper, by what is in blocks now. */
  async totals(organizationIds: readonly OrganizationId[], walletAddress: string): Promise<EarnTotals[]> {
    if (organizationIds.length === 0) return [];
    const rows = await this.#ledger(organizationIds, walletAddress)
      .select(['chain_send.block', 'chain_send.tx_hash'])
      .orderBy('earn_request.id')
      .execute();
    const totals = new Map<string, EarnTotals>();
    for (const row of rows) {
      const { caip2, wrapper_address: wrapperAddress } = row;
      const key = `${caip2} ${wrapperAddress}`;
      const before = totals.get(key) ?? { caip2, wrapperAddress, deposited: 0n, withdrawn: 0n, unread: [] };
      totals.set(key, withRow(before, row));
    }
    return [...totals.values()];
  }

  /** The deposits and withdrawals behind these totals, the newest of them, in the order in which they were asked for. */
  async movements(
    organizationIds: readonly OrganizationId[],
    walletAddress: string,
    limit: number,
  ): Promise<EarnMovement[]> {
    if (organizationIds.length === 0) return [];
    const rows = await this.#ledger(organizationIds, walletAddress)
      .select(['chain_send.block', 'chain_send.tx_hash', 'chain_send.updated_at_ms'])
      .orderBy('earn_request.id', 'desc')
      .limit(limit)
      .execute();
    return rows.reverse().map((row) => {
      const block = row.block === null ? undefined : (JSON.parse(row.block) as SendBlock);
      const amount = row.amount === 'MAX' ? block?.withdrawn : row.amount;
      return {
        caip2: row.caip2,
        wrapperAddress: row.wrapper_address,
        kind: row.kind === 'deposit' ? 'deposit' : 'withdraw',
        amount: amount === undefined ? undefined : BigInt(amount),
        atMs: block === undefined ? row.updated_at_ms : block.timestamp * 1000,
        txHash: row.tx_hash ?? undefined,
      };
    });
  }

  /** What a wallet asked for and is in a block now. */
  #ledger(organizationIds: readonly OrganizationId[], walletAddress: string) {
    return this.db
      .selectFrom('earn_request')
      .modifyFront(sql`/* partial chain_send: what is shown of the past; its bytes are long */`)
      .selectAll('earn_request')
      .innerJoin('chain_send', (join) =>
        join
          .onRef('chain_send.organization_id', '=', 'earn_request.organization_id')
          .onRef('chain_send.id', '=', 'earn_request.send_id'),
      )
      .where('earn_request.organization_id', 'in', organizationIds)
      .where('earn_request.wallet_address', '=', walletAddress)
      .where('earn_request.kind', 'in', ['deposit', 'withdraw'])
      .where('chain_send.state', '=', 'INCLUDED');
  }
}

type LedgerRow = Pick<Selectable<EarnRequestTable>, 'kind' | 'amount'> &
  Pick<Selectable<ChainSendTable>, 'block' | 'tx_hash'>;

function withRow(totals: EarnTotals, { kind, amount, block, tx_hash: txHash }: LedgerRow): EarnTotals {
  if (kind === 'deposit') return { ...totals, deposited: totals.deposited + BigInt(amount) };
  if (amount !== 'MAX') return { ...totals, withdrawn: totals.withdrawn + BigInt(amount) };
  const { withdrawn } = block === null ? {} : (JSON.parse(block) as Partial<SendBlock>);
  if (withdrawn === undefined) return { ...totals, unread: [...totals.unread, txHash ?? ''] };
  return { ...totals, withdrawn: totals.withdrawn + BigInt(withdrawn) };
}

export class EarnStore extends EarnReader {
  static readonly writes = true;

  async insertWrapper(wrapper: EarnWrapper): Promise<void> {
    await insertWrappers(this.db, [
      {
        organization_id: wrapper.organizationId,
        caip2: wrapper.caip2,
        wrapper_address: wrapper.wrapperAddress,
        splitter_address: wrapper.splitterAddress,
        vault_address: wrapper.vaultAddress,
        provider: wrapper.provider ?? '',
        asset_address: wrapper.assetAddress,
        asset_symbol: wrapper.assetSymbol,
        asset_decimals: wrapper.assetDecimals,
        client_fee_bps: wrapper.clientFeeBps,
        client_fee_wallet: wrapper.clientFeeWallet,
        service_fee_bps: wrapper.serviceFeeBps,
        service_fee_wallet: wrapper.serviceFeeWallet ?? null,
        deposits_disabled: wrapper.depositsDisabled ? 1 : 0,
        deploy_request_id: wrapper.deployRequestId,
        created_at_ms: wrapper.createdAtMs,
        updated_at_ms: wrapper.updatedAtMs,
      },
    ]);
  }

  /**
   * A wrapper as it stays until the end of the transaction: who wants to change its state waits, in any organization.
   */
  async holdWrapper({ organizationId, caip2, wrapperAddress }: EarnWrapper): Promise<EarnWrapper | undefined> {
    const found = this.db
      .selectFrom('earn_wrapper')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('caip2', '=', caip2)
      .where('wrapper_address', '=', wrapperAddress);
    const row = await (this.kind === 'postgres' ? found.forShare() : found).executeTakeFirst();
    return row && toWrapper(row);
  }

  async setDeployRequest(wrapper: EarnWrapper, requestId: EarnRequestId, nowMs: number): Promise<void> {
    await this.#update(wrapper, { deploy_request_id: requestId, updated_at_ms: nowMs });
  }

  async setDepositsDisabled(wrapper: EarnWrapper, isDisabled: boolean, nowMs: number): Promise<void> {
    await this.#update(wrapper, { deposits_disabled: isDisabled ? 1 : 0, updated_at_ms: nowMs });
  }

  async #update(
    { organizationId, caip2, wrapperAddress }: EarnWrapper,
    change: Partial<Selectable<EarnWrapperTable>>,
  ): Promise<void> {
    const key = { organization_id: organizationId, caip2, wrapper_address: wrapperAddress };
    await amendOne(this.db, 'earn_wrapper', key, () => change);
  }

  async insertRequest(request: EarnRequest): Promise<void> {
    await insertRequests(this.db, [
      {
        organization_id: request.organizationId,
        id: request.id,
        kind: request.kind,
        caip2: request.caip2,
        wrapper_address: request.wrapperAddress,
        wallet_address: request.walletAddress,
        amount: request.amount,
        send_id: request.sendId ?? null,
        created_at_ms: request.createdAtMs,
      },
    ]);
  }
}
