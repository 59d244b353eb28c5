import { getAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EarnRequest, EarnWrapper } from '../../src/domains/earn/model.ts';
import { EarnReader, EarnStore } from '../../src/domains/earn/store.ts';
import { type OrganizationId, randomId } from '../../src/lib/ids.ts';
import { COMPLETED, outcome, Rows } from '../flows/fixtures/access.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { codeOf } from '../storage/place.ts';

// Somebody who can write to the database, and has no key of the service, changes where deposits of Earn go.

const CAIP2 = 'eip155:31337';
const DONE = [200, COMPLETED];
const REFUSED = [500, 'INTEGRITY_VIOLATION'];

let made = 0xf0_00_00;
const newAddress = (): string => {
  made += 1;
  return `0x${made.toString(16).padStart(40, '0')}`;
};
const THIEF = newAddress();

describe.each(DATABASES)('rows of Earn that somebody else wrote, on %s', (database) => {
  let app: TestApp;
  let rows: Rows;
  let root: TestClient;
  let other: TestClient;

  beforeAll(async () => {
    const chains = { [CAIP2]: { rpcUrls: ['http://127.0.0.1:1'] } };
    app = await openTestApp(database, { CUSTOS_CHAINS: JSON.stringify(chains) });
    rows = await Rows.open(app.app.config);
    root = app.root;
    other = await createSubOrganization(root, 'Other');
  });
  afterAll(async () => {
    await rows[Symbol.asyncDispose]();
    await app[Symbol.asyncDispose]();
  });

  async function newWrapper(client = root): Promise<EarnWrapper> {
    const organizationId = client.organizationId as OrganizationId;
    const wrapperAddress = newAddress();
    const request: EarnRequest = {
      ...{ organizationId, id: randomId<'earn-request'>(), kind: 'deploy' as const, caip2: CAIP2, wrapperAddress },
      ...{ walletAddress: '', amount: '', sendId: undefined, createdAtMs: 1 },
    };
    const wrapper: EarnWrapper = {
      ...{ organizationId, caip2: CAIP2, wrapperAddress, splitterAddress: newAddress(), vaultAddress: newAddress() },
      ...{
        provider: 'EARN_PROVIDER_MORPHO' as const,
        assetAddress: newAddress(),
        assetSymbol: 'USDC',
        assetDecimals: 6,
      },
      ...{ clientFeeBps: 1500, clientFeeWallet: newAddress(), serviceFeeBps: 500, serviceFeeWallet: newAddress() },
      ...{ depositsDisabled: false, deployRequestId: request.id, createdAtMs: 1, updatedAtMs: 1 },
    };
    await app.app.storage.write(async (store) => {
      await store(EarnStore).insertRequest(request);
      await store(EarnStore).insertWrapper(wrapper);
    });
    return wrapper;
  }

  const disable = ({ wrapperAddress }: EarnWrapper, depositsDisabled = true) =>
    root.submit('earn_set_wrapper_state', { wrapperAddress: getAddress(wrapperAddress), depositsDisabled });
  const read = () => app.app.storage.read(EarnReader);
  const status = ({ deployRequestId }: EarnWrapper) =>
    root.query('get_earn_deploy_status', { deployRequestId }).then(({ status, body }) => [status, body.errorCode]);

  test.each([
    ['vault_address', `'${THIEF}'`],
    ['splitter_address', `'${THIEF}'`],
    ['asset_address', `'${THIEF}'`],
    ['asset_decimals', '18'],
    ['client_fee_bps', '9000'],
    ['client_fee_wallet', `'${THIEF}'`],
    ['service_fee_wallet', `'${THIEF}'`],
    ['deposits_disabled', '0'],
    ['deploy_request_id', "'other'"],
    ['earn_wrapper_mac', 'NULL'],
  ])('a wrapper: %s becomes %s', async (column, value) => {
    const wrapper = await newWrapper();
    expect(outcome(await disable(wrapper))).toEqual(DONE);
    await rows.forge(`UPDATE earn_wrapper SET ${column} = ${value} WHERE wrapper_address = ?`, [
      wrapper.wrapperAddress,
    ]);
    expect(outcome(await disable(wrapper, false))).toEqual(REFUSED);
    const { organizationId, wrapperAddress } = wrapper;
    expect(await codeOf(read().wrappersAt(organizationId, wrapperAddress))).toBe('INTEGRITY_VIOLATION');
    expect(await codeOf(read().wrappers(organizationId))).toBe('INTEGRITY_VIOLATION');
    const held = app.app.storage.write((store) => store(EarnStore).holdWrapper(wrapper));
    expect(await codeOf(held)).toBe('INTEGRITY_VIOLATION');
    await rows.forge('DELETE FROM earn_wrapper WHERE wrapper_address = ?', [wrapperAddress]);
  });

  test('a wrapper is copied to another address, and from another organization', async () => {
    const [wrapper, foreign] = [await newWrapper(), await newWrapper(other)];
    const [row] = await rows.forge('SELECT * FROM earn_wrapper WHERE wrapper_address = ?', [wrapper.wrapperAddress]);
    const columns = Object.keys(row ?? {});
    const copy = (from: EarnWrapper, changes: Record<string, string>) =>
      rows.forge(
        `INSERT INTO earn_wrapper (${columns}) SELECT ${columns.map((column) => changes[column] ?? column)}
          FROM earn_wrapper WHERE wrapper_address = ?`,
        [from.wrapperAddress],
      );
    await copy(wrapper, { wrapper_address: `'${THIEF}'` });
    expect(outcome(await disable({ ...wrapper, wrapperAddress: THIEF }))).toEqual(REFUSED);
    await copy(foreign, { organization_id: `'${root.organizationId}'` });
    expect(outcome(await disable(foreign))).toEqual(REFUSED);
    expect(outcome(await disable(wrapper))).toEqual(DONE);
    await rows.forge('DELETE FROM earn_wrapper WHERE wrapper_address IN (?, ?)', [THIEF, foreign.wrapperAddress]);
  });

  test.each([
    ['kind', "'deposit'"],
    ['send_id', "'018f0000-0000-7000-8000-000000000000'"],
    ['wallet_address', `'${THIEF}'`],
    ['amount', "'1'"],
    ['earn_request_mac', 'NULL'],
  ])('a request: %s becomes %s', async (column, value) => {
    const wrapper = await newWrapper();
    const { organizationId, deployRequestId, wrapperAddress } = wrapper;
    expect(await codeOf(read().getRequest(organizationId, 'deploy', deployRequestId))).toBe('done');
    await rows.forge(`UPDATE earn_request SET ${column} = ${value} WHERE id = ?`, [deployRequestId]);
    expect(await status(wrapper)).toEqual(REFUSED);
    await rows.forge("UPDATE earn_request SET kind = 'deposit', wallet_address = ? WHERE id = ?", [
      THIEF,
      deployRequestId,
    ]);
    await rows.forge('DELETE FROM earn_wrapper WHERE wrapper_address = ?', [wrapperAddress]);
  });
});
