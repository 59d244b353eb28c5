import { randomUUID } from 'node:crypto';
import {
  encodeErrorResult,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  type Hex,
  parseAbi,
  serializeTransaction,
  toFunctionSelector,
  toHex,
} from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { CallResult } from '../../src/chains/nodes/node.ts';
import { CREATE2_PROXY, wrapperDeployment } from '../../src/domains/earn/contract-addresses.ts';
import type { EarnProvider } from '../../src/domains/earn/model.ts';
import { createSubOrganization, createUser, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { approve, COMPLETED, FAILED, outcome, PENDING, policyFor, times } from './fixtures/access.ts';
import {
  A_TOKEN,
  anAddress,
  BATCHED,
  batchOf,
  EarnWorld,
  KEYLESS,
  OPERATOR,
  PLAIN,
  statusOf,
  TOKEN,
  UNPAID,
  VAULT,
} from './fixtures/earn.ts';
import { ethereum, newWallet, solana } from './fixtures/wallets.ts';

// Earn's transactions and their states (protocol/earn 2, protocol/earn 4). What the contracts do is tested with a real
// node in compat/.

const DONE = [200, COMPLETED];
const MOST = 2n ** 256n - 1n;
const WRAPPER = parseAbi([
  'function deposit(uint256 assets, address receiver)',
  'function withdraw(uint256 assets, address receiver, address owner)',
  'function redeemAll(address receiver)',
]);
const SPLITTER = parseAbi(['function releaseAssets(address payee, address to)', 'error NothingToRelease()']);

interface Deployed {
  readonly wrapperAddress: string;
  readonly splitterAddress: string;
  readonly deployRequestId: string;
}

describe.each(databasesOf(import.meta.url, { hasRaces: true }))('Earn on %s', (kind) => {
  let world: EarnWorld;
  let parent: TestClient;
  /** Of a wallet of the parent that gets the fees. */
  let feeWallet: string;
  /** Wrappers whose state stays as it is. */
  let batched: Deployed;
  let plain: Deployed;

  beforeAll(async () => {
    world = await EarnWorld.open(kind);
    parent = world.test.root;
    feeWallet = (await newWallet(parent)).addresses[0] as string;
    [batched, plain] = await Promise.all([newWrapper(), newWrapper(PLAIN)]);
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
  });
  afterEach(() => {
    for (const chain of world.chains.values()) {
      chain.isDown = false;
      chain.isMiningAtOnce = true;
      chain.reverting.clear();
    }
    world.trials.clear();
  });

  let fee = 0;
  /** Terms that nothing else has. */
  const terms = (extra: Record<string, unknown> = {}) => {
    fee += 1;
    return {
      vaultAddress: VAULT as string,
      chainCaip2: BATCHED,
      clientFeeBps: String(fee),
      clientFeeWallet: feeWallet,
      ...extra,
    };
  };
  const deploy = (parameters: object): Promise<Deployed> => parent.run('earn_deploy_wrapper', parameters);
  async function newWrapper(chainCaip2 = BATCHED): Promise<Deployed> {
    const deployed = await deploy(terms({ chainCaip2 }));
    await statusOf(parent, 'earn_deploy', deployed.deployRequestId, 'COMPLETED');
    return deployed;
  }
  /** An organization with a wallet that uses the parent's wrappers. */
  async function newDepositor(): Promise<{ root: TestClient; wallet: Hex; walletId: string }> {
    const root = await createSubOrganization(parent, `Org ${randomUUID()}`);
    const { walletId, addresses } = await newWallet(root);
    const wallet = addresses[0] as Hex;
    world.delegate(wallet);
    return { root, wallet, walletId };
  }
  const deposit = (wrapperAddress: string, signWith: string, extra: object = {}) => ({
    wrapperAddress,
    signWith,
    assets: '1000',
    chainCaip2: BATCHED,
    ...extra,
  });
  const withdrawal = (wrapperAddress: string, signWith: string, extra: object = {}) => ({
    wrapperAddress,
    signWith,
    amountValue: '1000',
    chainCaip2: BATCHED,
    ...extra,
  });
  const setState = (wrapperAddress: string, depositsDisabled: boolean) =>
    parent.run('earn_set_wrapper_state', { wrapperAddress, depositsDisabled });
  const approving = (wrapper: string, assets: bigint) => ({
    to: TOKEN,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [wrapper as Hex, assets] }),
  });
  const depositing = (wrapper: string, assets: bigint, wallet: Hex) => ({
    to: wrapper.toLowerCase(),
    data: encodeFunctionData({ abi: WRAPPER, functionName: 'deposit', args: [assets, wallet] }),
  });

  describe('a wrapper', () => {
    const deploymentOf = (asked: ReturnType<typeof terms>, provider: EarnProvider = 'EARN_PROVIDER_MORPHO') =>
      wrapperDeployment({
        organizationId: parent.organizationId,
        chainId: BigInt(asked.chainCaip2.slice('eip155:'.length)),
        provider,
        vaultAddress: asked.vaultAddress,
        clientFeeBps: Number(asked.clientFeeBps),
        clientFeeWallet: asked.clientFeeWallet,
        serviceFeeBps: 0,
        serviceFeeWallet: undefined,
      });
    const deploymentsOf = ({ data }: { data: Hex }, caip2 = BATCHED) =>
      world.sent(caip2, OPERATOR).filter((sent) => sent.data === data);

    test.each<[string, EarnProvider]>([
      [VAULT, 'EARN_PROVIDER_MORPHO'],
      [A_TOKEN, 'EARN_PROVIDER_AAVE'],
    ])('of %s is deployed by the operator at the address that was answered', async (vaultAddress, provider) => {
      const asked = terms({ vaultAddress: getAddress(vaultAddress) });
      const expected = deploymentOf(asked, provider);
      world.chain(BATCHED).isMiningAtOnce = false;
      const { deployRequestId, ...addresses } = await deploy(asked);
      expect(addresses).toEqual({
        wrapperAddress: expected.wrapperAddress,
        splitterAddress: expected.splitterAddress,
      });
      expect(getAddress(addresses.wrapperAddress)).toBe(addresses.wrapperAddress);
      await statusOf(parent, 'earn_deploy', deployRequestId, 'PENDING');
      expect(deploymentsOf(expected)).toEqual([]);
      world.chain(BATCHED).isMiningAtOnce = true;
      world.chain(BATCHED).mine();
      const { deployTxHash, ...status } = await statusOf(parent, 'earn_deploy', deployRequestId, 'COMPLETED');
      expect(status).toEqual({ status: 'COMPLETED' });
      expect(world.chain(BATCHED).receipt(deployTxHash)).toMatchObject({ from: OPERATOR });
      expect(deploymentsOf(expected)).toEqual([
        { from: OPERATOR, to: CREATE2_PROXY.toLowerCase(), data: expected.data },
      ]);
    });

    test('on the same terms is the same one, and no second transaction', async () => {
      const asked = terms();
      const first = await deploy(asked);
      const { deployTxHash } = await statusOf(parent, 'earn_deploy', first.deployRequestId, 'COMPLETED');
      const second = await deploy({ ...asked, clientFeeWallet: feeWallet.toLowerCase(), clientFeeBps: Number(fee) });
      expect(second).toEqual({ ...first, deployRequestId: expect.any(String) });
      expect(second.deployRequestId).not.toBe(first.deployRequestId);
      expect(await statusOf(parent, 'earn_deploy', second.deployRequestId, 'COMPLETED')).toEqual({
        status: 'COMPLETED',
        deployTxHash,
      });
      expect(deploymentsOf(deploymentOf(asked))).toHaveLength(1);
    });

    test('that several ask for at once is deployed once', async () => {
      const asked = terms();
      const all = await Promise.all(times(6, () => deploy(asked)));
      expect(new Set(all.map(({ wrapperAddress }) => wrapperAddress)).size).toBe(1);
      expect(new Set(all.map(({ deployRequestId }) => deployRequestId)).size).toBe(6);
      const told = await Promise.all(
        all.map(({ deployRequestId }) => statusOf(parent, 'earn_deploy', deployRequestId, 'COMPLETED')),
      );
      expect(new Set(told.map(({ deployTxHash }) => deployTxHash)).size).toBe(1);
      expect(deploymentsOf(deploymentOf(asked))).toHaveLength(1);
    });

    test('that is on the chain already needs no transaction', async () => {
      const asked = terms();
      const expected = deploymentOf(asked);
      world.codes.set(expected.wrapperAddress.toLowerCase(), '0x60');
      const { wrapperAddress, deployRequestId } = await deploy(asked);
      const status = await statusOf(parent, 'earn_deploy', deployRequestId, 'COMPLETED');
      expect(status).toEqual({ status: 'COMPLETED' });
      world.chain(BATCHED).isDown = true;
      expect(outcome(await parent.query('get_earn_deploy_status', { deployRequestId }))).toEqual([
        503,
        'RPC_CALL_ERROR',
      ]);
      world.chain(BATCHED).isDown = false;
      const { root, wallet } = await newDepositor();
      expect(outcome(await root.submit('earn_deposit', deposit(wrapperAddress, wallet)))).toEqual(DONE);
      expect(deploymentsOf(expected)).toEqual([]);
    });

    test('whose deployment failed takes no deposits until it is deployed again', async () => {
      const asked = terms();
      const { root, wallet } = await newDepositor();
      const error = encodeErrorResult({ abi: parseAbi(['error Error(string)']), args: ['no room'] });
      world.chain(BATCHED).reverting.set(CREATE2_PROXY.toLowerCase(), { data: error, onlyInBlocks: false });
      const first = await deploy(asked);
      const failed = await statusOf(parent, 'earn_deploy', first.deployRequestId, 'FAILED');
      expect(failed.error).toContain('no room');
      const refused = await root.submit('earn_deposit', deposit(first.wrapperAddress, wallet));
      expect(outcome(refused)).toEqual([400, 'EARN_SETUP_REQUIRED']);
      expect(refused.body.message).toContain('failed');
      expect(outcome(await root.submit('earn_withdraw', withdrawal(first.wrapperAddress, wallet)))).toEqual([
        400,
        'EARN_SETUP_REQUIRED',
      ]);
      world.chain(BATCHED).reverting.clear();
      const second = await deploy(asked);
      expect(second.wrapperAddress).toBe(first.wrapperAddress);
      await statusOf(parent, 'earn_deploy', second.deployRequestId, 'COMPLETED');
      await statusOf(parent, 'earn_deploy', first.deployRequestId, 'FAILED');
      expect(deploymentsOf(deploymentOf(asked))).toHaveLength(1);
      expect(outcome(await root.submit('earn_deposit', deposit(first.wrapperAddress, wallet)))).toEqual(DONE);
    });

    test('that was on the chain and is not any more is deployed again', async () => {
      const asked = terms();
      const expected = deploymentOf(asked);
      const { root, wallet } = await newDepositor();
      world.codes.set(expected.wrapperAddress.toLowerCase(), '0x60');
      const first = await deploy(asked);
      const { wrapperAddress } = first;
      const put = () => root.submit('earn_deposit', deposit(wrapperAddress, wallet));
      const take = () => root.submit('earn_withdraw', withdrawal(wrapperAddress, wallet));
      expect([outcome(await put()), outcome(await take())]).toEqual([DONE, DONE]);
      const statusNow = (status: 'COMPLETED' | 'FAILED') =>
        statusOf(parent, 'earn_deploy', first.deployRequestId, status);
      expect(await statusNow('COMPLETED')).toEqual({ status: 'COMPLETED' });
      world.codes.delete(expected.wrapperAddress.toLowerCase());
      const again = expect.stringContaining('earn_deploy_wrapper again');
      expect(await statusNow('FAILED')).toEqual({ status: 'FAILED', error: again });
      const refused = await put();
      expect([outcome(refused), outcome(await take())]).toEqual(times(2, () => [400, 'EARN_SETUP_REQUIRED']));
      expect(refused.body.message).toContain('earn_deploy_wrapper again');
      const claim = await parent.submit('claim_earn_fees', { wrapperAddress });
      expect(outcome(claim)).toEqual([400, 'EARN_SETUP_REQUIRED']);
      const second = await deploy(asked);
      expect(second).toEqual({ ...first, deployRequestId: expect.any(String) });
      const { deployTxHash } = await statusOf(parent, 'earn_deploy', second.deployRequestId, 'COMPLETED');
      expect(deployTxHash).toEqual(expect.any(String));
      expect(await statusNow('COMPLETED')).toEqual({ status: 'COMPLETED', deployTxHash });
      expect(deploymentsOf(expected)).toHaveLength(1);
      expect([outcome(await put()), outcome(await take())]).toEqual([DONE, DONE]);
    });

    test('that somebody else has put there pays out, whatever became of our transaction', async () => {
      const asked = terms();
      const { root, wallet } = await newDepositor();
      const error = encodeErrorResult({ abi: parseAbi(['error Error(string)']), args: ['no room'] });
      world.chain(BATCHED).reverting.set(CREATE2_PROXY.toLowerCase(), { data: error, onlyInBlocks: false });
      const { wrapperAddress, deployRequestId } = await deploy(asked);
      await statusOf(parent, 'earn_deploy', deployRequestId, 'FAILED');
      world.chain(BATCHED).reverting.clear();
      const put = async () => outcome(await root.submit('earn_deposit', deposit(wrapperAddress, wallet)));
      const take = async () => outcome(await root.submit('earn_withdraw', withdrawal(wrapperAddress, wallet)));
      const claim = async () => outcome(await parent.submit('claim_earn_fees', { wrapperAddress }));
      const refused = [400, 'EARN_SETUP_REQUIRED'];
      expect([await put(), await take(), await claim()]).toEqual([refused, refused, refused]);
      world.codes.set(wrapperAddress.toLowerCase(), '0x60');
      expect([await put(), await take(), await claim()]).toEqual([refused, DONE, DONE]);
      const second = await deploy(asked);
      expect(second.wrapperAddress).toBe(wrapperAddress);
      expect(await statusOf(parent, 'earn_deploy', second.deployRequestId, 'COMPLETED')).toEqual({
        status: 'COMPLETED',
      });
      expect(await put()).toEqual(DONE);
      world.chain(BATCHED).isDown = true;
      expect([await put(), await take(), await claim()]).toEqual(times(3, () => [503, 'RPC_CALL_ERROR']));
    });

    test('has the fee of the service as a second part, and another address by it', async () => {
      const asked = terms({ clientFeeBps: '4000' });
      const { wrapperAddress } = await deploy(asked);
      const feature = 'FEATURE_NAME_EARN_CONFIG';
      const value = JSON.stringify({ serviceFeeBps: 1000, serviceFeeWallet: anAddress() });
      await parent.run('set_organization_feature', { name: feature, value });
      try {
        expect((await deploy(asked)).wrapperAddress).not.toBe(wrapperAddress);
        const more = JSON.stringify({ ...JSON.parse(value), serviceFeeBps: 1001 });
        expect(outcome(await parent.submit('set_organization_feature', { name: feature, value: more }))).toEqual([
          400,
          'INVALID_FEATURE_VALUE',
        ]);
      } finally {
        await parent.run('remove_organization_feature', { name: feature });
      }
      expect((await deploy(asked)).wrapperAddress).toBe(wrapperAddress);
    });

    test('is refused on other than the right terms', async () => {
      const { root, wallet } = await newDepositor();
      const { privateKeys } = await parent.run('create_private_keys', {
        privateKeys: [
          {
            privateKeyName: randomUUID(),
            curve: 'CURVE_SECP256K1',
            addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
            privateKeyTags: [],
          },
        ],
      });
      const [elsewhere] = (await newWallet(parent, [solana()])).addresses;
      const wrongCase = feeWallet.replace(/[a-f]/i, (letter) =>
        letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
      );
      const before = world.sent(BATCHED, OPERATOR).length;
      const cases: [Record<string, unknown>, number, string, string][] = [
        [{ chainCaip2: 'eip155:5' }, 400, 'CHAIN_NOT_CONFIGURED', 'CUSTOS_CHAINS'],
        [{ chainCaip2: 'solana:mainnet' }, 400, 'REQUEST_INVALID', 'chainCaip2'],
        [{ chainCaip2: UNPAID }, 400, 'SPONSORSHIP_NOT_CONFIGURED', 'operatorAddress'],
        [{ chainCaip2: KEYLESS }, 400, 'SPONSORSHIP_NOT_CONFIGURED', 'import-key --chain eip155:31340'],
        [{ vaultAddress: anAddress() }, 400, 'EARN_VAULT_NOT_SERVED', 'CUSTOS_CHAINS'],
        [{ vaultAddress: '0x12' }, 400, 'REQUEST_INVALID', 'vaultAddress'],
        [{ clientFeeBps: '4001' }, 400, 'REQUEST_INVALID', 'clientFeeBps'],
        [{ clientFeeBps: '-1' }, 400, 'REQUEST_INVALID', 'clientFeeBps'],
        [{ clientFeeBps: '010' }, 400, 'REQUEST_INVALID', 'clientFeeBps'],
        [{ clientFeeWallet: wrongCase }, 400, 'REQUEST_INVALID', 'clientFeeWallet'],
        [{ clientFeeWallet: elsewhere }, 400, 'REQUEST_INVALID', 'clientFeeWallet'],
        [{ clientFeeWallet: anAddress() }, 404, 'RESOURCE_NOT_FOUND', 'clientFeeWallet'],
        [{ clientFeeWallet: wallet }, 404, 'RESOURCE_NOT_FOUND', 'clientFeeWallet'],
        [{ clientFeeWallet: privateKeys[0].addresses[0].address }, 404, 'RESOURCE_NOT_FOUND', 'clientFeeWallet'],
      ];
      for (const [wrong, status, code, message] of cases) {
        const answer = await parent.submit('earn_deploy_wrapper', terms(wrong));
        expect([wrong, ...outcome(answer)]).toEqual([wrong, status, code]);
        expect(answer.body.message).toContain(message);
      }
      const child = await root.submit('earn_deploy_wrapper', terms({ clientFeeWallet: wallet }));
      expect(outcome(child)).toEqual([400, 'INVALID_ACTIVITY_CALLER']);
      world.chain(BATCHED).isDown = true;
      expect(outcome(await parent.submit('earn_deploy_wrapper', terms()))).toEqual([503, 'RPC_CALL_ERROR']);
      world.chain(BATCHED).isDown = false;
      world.codes.delete(CREATE2_PROXY.toLowerCase());
      const homeless = await parent.submit('earn_deploy_wrapper', terms());
      world.codes.set(CREATE2_PROXY.toLowerCase(), '0x60');
      expect(outcome(homeless)).toEqual([400, 'FAILED_PRECONDITION']);
      expect(homeless.body.message).toContain(CREATE2_PROXY);
      expect(world.sent(BATCHED, OPERATOR)).toHaveLength(before);
      expect(outcome(await parent.submit('earn_deploy_wrapper', terms()))).toEqual(DONE);
    });
  });

  describe('a deposit', () => {
    test('is one transaction of the wallet where the chain has the batch contract', async () => {
      const { wrapperAddress } = batched;
      const { root, wallet } = await newDepositor();
      const { depositRequestId } = await root.run('earn_deposit', deposit(wrapperAddress.toLowerCase(), wallet));
      const { depositTxHash, ...status } = await statusOf(root, 'earn_deposit', depositRequestId, 'COMPLETED');
      expect(status).toEqual({ status: 'COMPLETED' });
      const [sent, ...others] = world.sent(BATCHED, wallet);
      expect(others).toEqual([]);
      expect(world.chain(BATCHED).landed(wallet)).toMatchObject([{ hash: depositTxHash }]);
      expect(sent?.to).toBe(wallet.toLowerCase());
      expect(batchOf(sent as NonNullable<typeof sent>)).toEqual({
        isSigned: false,
        calls: [approving(wrapperAddress, 1000n), depositing(wrapperAddress, 1000n, wallet)],
      });
    });

    test('is two, one after the other, where it has not', async () => {
      const { wrapperAddress } = plain;
      const { root } = await newDepositor();
      // Without the batch contract's code.
      const wallet = (await newWallet(root)).addresses[0] as Hex;
      const chain = world.chain(PLAIN);
      chain.isMiningAtOnce = false;
      const asked = deposit(wrapperAddress, wallet, { chainCaip2: PLAIN, assets: String(MOST) });
      const { depositRequestId } = await root.run('earn_deposit', asked);
      await world.handedBy(PLAIN, wallet);
      expect(await statusOf(root, 'earn_deposit', depositRequestId, 'PENDING')).toEqual({ status: 'PENDING' });
      chain.isMiningAtOnce = true;
      chain.mine();
      const { depositTxHash } = await statusOf(root, 'earn_deposit', depositRequestId, 'COMPLETED');
      expect(chain.landed(wallet).map(({ hash }) => hash)[1]).toBe(depositTxHash);
      const from = wallet.toLowerCase();
      expect(world.sent(PLAIN, wallet)).toEqual([
        { from, ...approving(wrapperAddress, MOST) },
        { from, ...depositing(wrapperAddress, MOST, wallet) },
      ]);
    });

    test.each([
      ['approval', TOKEN as string],
      ['deposit', 'wrapper'],
    ])('fails with its %s', async (_, culprit) => {
      const { wrapperAddress } = plain;
      const { root } = await newDepositor();
      const wallet = (await newWallet(root)).addresses[0] as Hex;
      const data = encodeErrorResult({ abi: parseAbi(['error Error(string)']), args: ['not you'] });
      const to = culprit === 'wrapper' ? wrapperAddress.toLowerCase() : culprit;
      world.chain(PLAIN).reverting.set(to, { data, onlyInBlocks: false });
      const asked = deposit(wrapperAddress, wallet, { chainCaip2: PLAIN });
      const { depositRequestId } = await root.run('earn_deposit', asked);
      const { error } = await statusOf(root, 'earn_deposit', depositRequestId, 'FAILED');
      expect(error).toContain('not you');
      expect(world.sent(PLAIN, wallet)).toHaveLength(culprit === 'wrapper' ? 1 : 0);
    });

    describe('of a token that replaces no allowance by another one', () => {
      const APPROVE = toFunctionSelector('approve(address,uint256)');
      const NOTHING = approving(anAddress(), 0n).data.slice(-64);
      const no = encodeErrorResult({ abi: parseAbi(['error Error(string)']), args: ['take it back first'] });
      const word = (value: bigint): CallResult => ({ ok: true, data: toHex(value, { size: 32 }) });
      /** Says so by reverting, or by the word false. */
      const stubborn = (left: bigint, refusal: CallResult = { ok: false, message: 'reverted', data: no }) =>
        world.trials.set(TOKEN, ({ data }) => {
          if (!data.startsWith(APPROVE)) return word(left);
          return left > 0n && !data.endsWith(NOTHING) ? refusal : { ok: true, data: '0x' };
        });

      test.each<[string, bigint, (CallResult | undefined)?]>([
        ['reverts', 7n],
        ['answers false', 7n, word(0n)],
      ])('and %s: what is left over is taken back first', async (_, left, refusal) => {
        stubborn(left, refusal);
        const { root, wallet } = await newDepositor();
        const { depositRequestId } = await root.run('earn_deposit', deposit(batched.wrapperAddress, wallet));
        await statusOf(root, 'earn_deposit', depositRequestId, 'COMPLETED');
        const steps = (wrapper: string, account: Hex) => [
          approving(wrapper, 0n),
          approving(wrapper, 1000n),
          depositing(wrapper, 1000n, account),
        ];
        const [sent, ...others] = world.sent(BATCHED, wallet);
        expect(others).toEqual([]);
        expect(batchOf(sent as NonNullable<typeof sent>).calls).toEqual(steps(batched.wrapperAddress, wallet));
        const other = (await newWallet(root)).addresses[0] as Hex;
        const asked = deposit(plain.wrapperAddress, other, { chainCaip2: PLAIN });
        const second = await root.run('earn_deposit', asked);
        await statusOf(root, 'earn_deposit', second.depositRequestId, 'COMPLETED');
        expect(world.sent(PLAIN, other)).toEqual(
          steps(plain.wrapperAddress, other).map((call) => ({ from: other.toLowerCase(), ...call })),
        );
      });

      test('and of which nothing is left over: there is nothing to take back', async () => {
        stubborn(0n);
        const { root } = await newDepositor();
        const wallet = (await newWallet(root)).addresses[0] as Hex;
        const asked = deposit(plain.wrapperAddress, wallet, { chainCaip2: PLAIN });
        const { depositRequestId } = await root.run('earn_deposit', asked);
        await statusOf(root, 'earn_deposit', depositRequestId, 'COMPLETED');
        expect(world.sent(PLAIN, wallet)).toHaveLength(2);
      });

      test('and that does not even take it back: the status says why', async () => {
        stubborn(7n);
        world.chain(PLAIN).reverting.set(TOKEN, { data: no, onlyInBlocks: false });
        const { root } = await newDepositor();
        const wallet = (await newWallet(root)).addresses[0] as Hex;
        const asked = deposit(plain.wrapperAddress, wallet, { chainCaip2: PLAIN });
        const { depositRequestId } = await root.run('earn_deposit', asked);
        const { error } = await statusOf(root, 'earn_deposit', depositRequestId, 'FAILED');
        expect(error).toBe('execution reverted: take it back first');
        expect(world.sent(PLAIN, wallet)).toEqual([]);
      });

      test('and policies judge that call too, whether it is needed or not', async () => {
        const { root, wallet } = await newDepositor();
        const { wrapperAddress } = batched;
        const tryWith = async (condition: string) => {
          const user = await createUser(root, `user ${randomUUID()}`);
          await policyFor(root, user, { condition });
          return outcome(await user.submit('earn_deposit', deposit(wrapperAddress, wallet)));
        };
        const is = ({ data }: { data: Hex }) => `eth.tx.data == '${data}'`;
        const [reset, others] = [approving(wrapperAddress, 0n), [approving(wrapperAddress, 1000n)]];
        const wanted = [...others, depositing(wrapperAddress, 1000n, wallet)].map(is).join(' || ');
        expect(await tryWith(`${is(reset)} || ${wanted}`)).toEqual(DONE);
        expect(await tryWith(wanted)).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
        stubborn(7n);
        expect(await tryWith(wanted)).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
        expect(await tryWith(`${is(reset)} || ${wanted}`)).toEqual(DONE);
      });
    });

    test('is not torn apart by another one of the same wallet', async () => {
      const { wrapperAddress } = plain;
      const { root } = await newDepositor();
      const wallet = (await newWallet(root)).addresses[0] as Hex;
      const put = (assets: string) =>
        root.run('earn_deposit', deposit(wrapperAddress, wallet, { chainCaip2: PLAIN, assets }));
      const requests = await Promise.all(times(6, (index) => put(String(index + 1))));
      for (const { depositRequestId } of requests) {
        await statusOf(root, 'earn_deposit', depositRequestId, 'COMPLETED');
      }
      const sent = world.sent(PLAIN, wallet).map(({ data }) => data);
      expect(sent).toHaveLength(12);
      const amounts = times(6, (index) => BigInt(index + 1));
      for (const amount of amounts) {
        const place = sent.indexOf(approving(wrapperAddress, amount).data);
        expect(sent[place + 1]).toBe(depositing(wrapperAddress, amount, wallet).data);
      }
    });

    test('that is sponsored is signed by the wallet and sent by the operator', async () => {
      const { wrapperAddress } = batched;
      const { root, wallet } = await newDepositor();
      const asked = deposit(wrapperAddress, wallet, { sponsor: true });
      const { depositRequestId } = await root.run('earn_deposit', asked);
      await statusOf(root, 'earn_deposit', depositRequestId, 'COMPLETED');
      expect(world.sent(BATCHED, wallet)).toEqual([]);
      const sent = world.sent(BATCHED, OPERATOR).find(({ to }) => to === wallet.toLowerCase());
      expect(batchOf(sent as NonNullable<typeof sent>)).toEqual({
        isSigned: true,
        calls: [approving(wrapperAddress, 1000n), depositing(wrapperAddress, 1000n, wallet)],
      });
      const refused = await root.submit(
        'earn_deposit',
        deposit(plain.wrapperAddress, wallet, { chainCaip2: PLAIN, sponsor: true }),
      );
      expect(outcome(refused)).toEqual([400, 'SPONSORSHIP_NOT_CONFIGURED']);
      expect(refused.body.message).toContain('batchContract');
    });

    test('is refused where it could not be right', async () => {
      const { wrapperAddress } = batched;
      const { root, wallet, walletId } = await newDepositor();
      const other = await newDepositor();
      const { accounts } = (await root.query('list_wallet_accounts', { walletId })).body;
      const cases: [object, number, string, string][] = [
        [{ wrapperAddress: anAddress() }, 400, 'EARN_SETUP_REQUIRED', 'earn_deploy_wrapper'],
        [{ chainCaip2: PLAIN }, 400, 'REQUEST_INVALID', 'chainCaip2'],
        [{ chainCaip2: 'eip155:5' }, 400, 'CHAIN_NOT_CONFIGURED', 'CUSTOS_CHAINS'],
        [{ assets: '0' }, 400, 'REQUEST_INVALID', 'assets'],
        [{ assets: '1.5' }, 400, 'REQUEST_INVALID', 'assets'],
        [{ assets: 'MAX' }, 400, 'REQUEST_INVALID', 'assets'],
        [{ assets: String(MOST + 1n) }, 400, 'REQUEST_INVALID', 'assets'],
        [{ signWith: accounts[0].walletAccountId }, 400, 'REQUEST_INVALID', 'signWith'],
        [{ signWith: other.wallet }, 404, 'RESOURCE_NOT_FOUND', 'signWith'],
      ];
      for (const [wrong, status, code, message] of cases) {
        const answer = await root.submit('earn_deposit', { ...deposit(wrapperAddress, wallet), ...wrong });
        expect([wrong, ...outcome(answer)]).toEqual([wrong, status, code]);
        expect(answer.body.message).toContain(message);
      }
      expect(outcome(await root.submit('earn_deposit', deposit(wrapperAddress, wallet)))).toEqual(DONE);
    });

    test('waits for the wrapper to be in a block, and for one that stays', async () => {
      const chain = world.chain(BATCHED);
      const { root, wallet } = await newDepositor();
      chain.isMiningAtOnce = false;
      const { wrapperAddress, deployRequestId } = await deploy(terms());
      const tryIt = () => root.submit('earn_deposit', deposit(wrapperAddress, wallet));
      const early = await tryIt();
      expect(outcome(early)).toEqual([400, 'EARN_SETUP_REQUIRED']);
      expect(early.body.message).toContain('get_earn_deploy_status');
      await world.handedBy(BATCHED, OPERATOR);
      chain.mine();
      await statusOf(parent, 'earn_deploy', deployRequestId, 'COMPLETED');
      chain.reorganise(1, true);
      await statusOf(parent, 'earn_deploy', deployRequestId, 'PENDING');
      expect(outcome(await tryIt())).toEqual([400, 'EARN_SETUP_REQUIRED']);
      chain.isMiningAtOnce = true;
      chain.mine();
      await statusOf(parent, 'earn_deploy', deployRequestId, 'COMPLETED');
      expect(outcome(await tryIt())).toEqual(DONE);
    });

    test('shows each of its calls to policies, and its parameters', async () => {
      const { wrapperAddress } = batched;
      const { root, wallet } = await newDepositor();
      const tryWith = async (condition: string) => {
        const user = await createUser(root, `user ${randomUUID()}`);
        await policyFor(root, user, { condition });
        return outcome(await user.submit('earn_deposit', deposit(wrapperAddress, wallet)));
      };
      const wrapper = wrapperAddress.toLowerCase();
      const to = (...addresses: string[]) => addresses.map((address) => `eth.tx.to == '${address}'`).join(' || ');
      expect(await tryWith(`(${to(TOKEN, wrapper)}) && eth.tx.chain_id == 31337`)).toEqual(DONE);
      expect(await tryWith(to(wrapper))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
      expect(await tryWith(to(TOKEN))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
      const params = `activity.kind == 'EARN_DEPOSIT' && activity.params.wrapper_address == '${wrapper}'`;
      expect(await tryWith(`${params} && activity.params.assets <= 1000`)).toEqual(DONE);
      expect(await tryWith(`${params} && activity.params.assets < 1000`)).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
      expect(await tryWith(`wallet_account.address == '${wallet}'`)).toEqual(DONE);
    });

    test('counts against a limit on the asset', async () => {
      const { wrapperAddress } = batched;
      const { root, wallet } = await newDepositor();
      await root.run('create_velocity_control', {
        name: 'limit',
        identifier: randomUUID(),
        dataSource: {
          chainAssetTransfer: { definition: [{ caip19: `${BATCHED}/erc20:${TOKEN}`, decimals: '0' }] },
        },
        aggregation: {
          method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',
          operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
          threshold: '1500',
          window: { infinite: {} },
          groupBy: { organization: {} },
        },
      });
      const user = await createUser(root, 'spender');
      await policyFor(root, user);
      const put = async () => outcome(await user.submit('earn_deposit', deposit(wrapperAddress, wallet)));
      expect(await put()).toEqual(DONE);
      expect(await put()).toEqual([403, 'VELOCITY_EXCEEDED']);
      const take = await user.submit('earn_withdraw', withdrawal(wrapperAddress, wallet));
      expect(outcome(take)).toEqual(DONE);
    });
  });

  test('a wrapper that is called directly counts, and an approval to it does not', async () => {
    const { wrapperAddress } = batched;
    const { root, wallet } = await newDepositor();
    await root.run('create_velocity_control', {
      name: 'limit',
      identifier: randomUUID(),
      dataSource: { chainAssetTransfer: { definition: [{ caip19: `${BATCHED}/erc20:${TOKEN}`, decimals: '0' }] } },
      aggregation: {
        method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',
        operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
        threshold: '1500',
        window: { infinite: {} },
        groupBy: { organization: {} },
      },
    });
    const user = await createUser(root, 'spender');
    await policyFor(root, user);
    const other = anAddress() as Hex;
    const sign = async (to: string, signature: string, args: readonly unknown[]) => {
      const data = encodeFunctionData({ abi: parseAbi([`function ${signature}` as string]), args } as never);
      const chainId = Number(BATCHED.slice('eip155:'.length));
      const tx = serializeTransaction({ type: 'eip1559', chainId, to: to.toLowerCase() as Hex, data });
      const asked = { signWith: wallet, type: 'TRANSACTION_TYPE_ETHEREUM', unsignedTransaction: tx };
      return outcome(await user.submit('sign_transaction', asked));
    };
    const exceeded = [403, 'VELOCITY_EXCEEDED'];
    const uncounted = [403, 'VELOCITY_UNCOUNTED'];
    expect(await sign(TOKEN, 'approve(address,uint256)', [wrapperAddress, 2n ** 255n])).toEqual(DONE);
    expect(await sign(TOKEN, 'approve(address,uint256)', [other, 2n ** 255n])).toEqual(exceeded);
    expect(await sign(wrapperAddress, 'deposit(uint256,address)', [1501n, other])).toEqual(exceeded);
    expect(await sign(wrapperAddress, 'deposit(uint256,address)', [1000n, other])).toEqual(DONE);
    expect(await sign(wrapperAddress, 'deposit(uint256,address)', [501n, wallet])).toEqual(exceeded);
    expect(await sign(wrapperAddress, 'mint(uint256,address)', [1n, wallet])).toEqual(uncounted);
    expect(await sign(wrapperAddress, 'redeemAll(address)', [other])).toEqual(uncounted);
    expect(await sign(wrapperAddress, 'redeemAll(address)', [wallet])).toEqual(DONE);
    expect(outcome(await user.submit('earn_deposit', deposit(wrapperAddress, wallet)))).toEqual(exceeded);
  });

  describe('the state of a wrapper', () => {
    test('stops deposits and lets withdrawals go on', async () => {
      const { wrapperAddress } = await newWrapper();
      const { wrapperAddress: other } = batched;
      const { root, wallet } = await newDepositor();
      const put = async (address = wrapperAddress) =>
        outcome(await root.submit('earn_deposit', deposit(address, wallet)));
      expect(await put()).toEqual(DONE);
      expect(await setState(wrapperAddress.toLowerCase(), true)).toEqual({ wrapperAddress, depositsDisabled: true });
      expect(await put()).toEqual([400, 'EARN_DEPOSITS_DISABLED']);
      expect(await put(other)).toEqual(DONE);
      expect(outcome(await root.submit('earn_withdraw', withdrawal(wrapperAddress, wallet)))).toEqual(DONE);
      expect(await setState(wrapperAddress, false)).toEqual({ wrapperAddress, depositsDisabled: false });
      expect(await put()).toEqual(DONE);
    });

    test('is for the parent alone, and of its own wrappers', async () => {
      const { wrapperAddress } = await newWrapper();
      const { root } = await newDepositor();
      const asked = { wrapperAddress, depositsDisabled: true };
      expect(outcome(await root.submit('earn_set_wrapper_state', asked))).toEqual([400, 'INVALID_ACTIVITY_CALLER']);
      const unknown = await parent.submit('earn_set_wrapper_state', { ...asked, wrapperAddress: anAddress() });
      expect(outcome(unknown)).toEqual([404, 'RESOURCE_NOT_FOUND']);
      expect(outcome(await parent.submit('earn_set_wrapper_state', asked))).toEqual(DONE);
    });

    test('counts as it is when a deposit is made, and not when it was asked for', async () => {
      const { wrapperAddress } = await newWrapper();
      const { root, wallet } = await newDepositor();
      const asked = deposit(wrapperAddress, wallet);
      // Proofs are signed between the decision and the transaction.
      const { keyring } = world.test.app;
      const signAppProof = keyring.signAppProof.bind(keyring);
      const run = async (meanwhile: () => Promise<unknown>) => {
        keyring.signAppProof = async (payload) => {
          keyring.signAppProof = signAppProof;
          await meanwhile();
          return await signAppProof(payload);
        };
        return outcome(await root.submit('earn_deposit', asked, { generateAppProofs: true }));
      };
      expect(await run(async () => {})).toEqual(DONE);
      expect(await run(() => setState(wrapperAddress, true))).toEqual([400, 'EARN_DEPOSITS_DISABLED']);
      await setState(wrapperAddress, false);
      const user = await createUser(root, 'asker');
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, user.userId] });
      const waiting = await user.submit('earn_deposit', asked);
      expect(outcome(waiting)).toEqual([200, PENDING]);
      await setState(wrapperAddress, true);
      const { activity } = waiting.body;
      const refused = await approve(root, activity.fingerprint);
      expect(outcome(refused)).toEqual([200, FAILED]);
      expect(refused.body.activity.failure.message).toContain('disabled');
    });
  });

  describe('a withdrawal', () => {
    test.each([
      ['an amount', '7', (wallet: Hex) => ({ functionName: 'withdraw', args: [7n, wallet, wallet] }) as const],
      ['everything', 'MAX', (wallet: Hex) => ({ functionName: 'redeemAll', args: [wallet] }) as const],
    ])('takes out %s', async (_, amountValue, called) => {
      const { wrapperAddress } = batched;
      const { root, wallet } = await newDepositor();
      const { withdrawRequestId } = await root.run(
        'earn_withdraw',
        withdrawal(wrapperAddress, wallet.toLowerCase(), { amountValue }),
      );
      const { withdrawTxHash } = await statusOf(root, 'earn_withdraw', withdrawRequestId, 'COMPLETED');
      expect(world.chain(BATCHED).landed(wallet)).toMatchObject([{ hash: withdrawTxHash }]);
      const data = encodeFunctionData({ abi: WRAPPER, ...called(wallet) } as Parameters<typeof encodeFunctionData>[0]);
      const [sent] = world.sent(BATCHED, wallet);
      const calls = sent?.to === wallet.toLowerCase() ? batchOf(sent).calls : [{ to: sent?.to, data: sent?.data }];
      expect(calls).toEqual([{ to: wrapperAddress.toLowerCase(), data }]);
    });

    test('is refused where it could not be right', async () => {
      const { wrapperAddress } = batched;
      const { root, wallet } = await newDepositor();
      const other = await newDepositor();
      const cases: [object, number, string][] = [
        [{ wrapperAddress: anAddress() }, 400, 'EARN_SETUP_REQUIRED'],
        [{ chainCaip2: PLAIN }, 400, 'REQUEST_INVALID'],
        [{ amountValue: '0' }, 400, 'REQUEST_INVALID'],
        [{ amountValue: 'max' }, 400, 'REQUEST_INVALID'],
        [{ amountValue: String(MOST + 1n) }, 400, 'REQUEST_INVALID'],
        [{ signWith: other.wallet }, 404, 'RESOURCE_NOT_FOUND'],
      ];
      for (const [wrong, status, code] of cases) {
        const answer = await root.submit('earn_withdraw', { ...withdrawal(wrapperAddress, wallet), ...wrong });
        expect([wrong, ...outcome(answer)]).toEqual([wrong, status, code]);
      }
      expect(outcome(await root.submit('earn_withdraw', withdrawal(wrapperAddress, wallet)))).toEqual(DONE);
    });
  });

  describe('a claim of fees', () => {
    const nothing = encodeErrorResult({ abi: SPLITTER, errorName: 'NothingToRelease' });

    test('pays the wallet that they are due to, by its own transaction', async () => {
      world.delegate(feeWallet);
      const { wrapperAddress, splitterAddress } = batched;
      const { claimRequestId } = await parent.run('claim_earn_fees', { wrapperAddress });
      const { claimTxHash } = await statusOf(parent, 'claim_earn_fees', claimRequestId, 'COMPLETED');
      const wallet = feeWallet as Hex;
      const index = world
        .chain(BATCHED)
        .landed(feeWallet)
        .findIndex(({ hash }) => hash === claimTxHash);
      expect(world.sent(BATCHED, feeWallet)[index]).toEqual({
        from: feeWallet.toLowerCase(),
        to: splitterAddress.toLowerCase(),
        data: encodeFunctionData({ abi: SPLITTER, functionName: 'releaseAssets', args: [wallet, wallet] }),
      });
    });

    test('is refused where nothing is to be had', async () => {
      const { wrapperAddress, splitterAddress } = batched;
      const claim = (address: string) => parent.submit('claim_earn_fees', { wrapperAddress: address });
      const trial = { ok: false, message: 'execution reverted', data: nothing } as const;
      world.trials.set(splitterAddress.toLowerCase(), () => trial);
      expect(outcome(await claim(wrapperAddress))).toEqual([400, 'EARN_NOTHING_TO_CLAIM']);
      world.trials.clear();
      expect(outcome(await claim(wrapperAddress))).toEqual(DONE);
      const free = await deploy(terms({ clientFeeBps: '0' }));
      await statusOf(parent, 'earn_deploy', free.deployRequestId, 'COMPLETED');
      expect(outcome(await claim(free.wrapperAddress))).toEqual([400, 'EARN_NOTHING_TO_CLAIM']);
      expect(outcome(await claim(anAddress()))).toEqual([404, 'RESOURCE_NOT_FOUND']);
      world.chain(BATCHED).isDown = true;
      expect(outcome(await claim(wrapperAddress))).toEqual([503, 'RPC_CALL_ERROR']);
    });

    test('is for the parent, and only while it has the wallet', async () => {
      const { root } = await newDepositor();
      const { walletId, addresses } = await newWallet(parent, [ethereum(3)]);
      const [clientFeeWallet = ''] = addresses;
      world.chain(BATCHED).isMiningAtOnce = false;
      const { wrapperAddress, deployRequestId } = await deploy(terms({ clientFeeWallet }));
      const claim = (client: TestClient) => client.submit('claim_earn_fees', { wrapperAddress });
      expect(outcome(await claim(parent))).toEqual([400, 'EARN_SETUP_REQUIRED']);
      world.chain(BATCHED).isMiningAtOnce = true;
      world.chain(BATCHED).mine();
      await statusOf(parent, 'earn_deploy', deployRequestId, 'COMPLETED');
      expect(outcome(await claim(parent))).toEqual(DONE);
      expect(outcome(await claim(root))).toEqual([400, 'INVALID_ACTIVITY_CALLER']);
      await parent.run('delete_wallets', { walletIds: [walletId], deleteWithoutExport: true });
      const refused = await claim(parent);
      expect(outcome(refused)).toEqual([400, 'FAILED_PRECONDITION']);
      expect(refused.body.message).toContain(clientFeeWallet.toLowerCase());
    });

    test('shows its call to policies', async () => {
      const { wrapperAddress, splitterAddress } = batched;
      const tryWith = async (to: string) => {
        const user = await createUser(parent, `user ${randomUUID()}`);
        await policyFor(parent, user, { condition: `eth.tx.to == '${to.toLowerCase()}'` });
        return outcome(await user.submit('claim_earn_fees', { wrapperAddress }));
      };
      expect(await tryWith(splitterAddress)).toEqual(DONE);
      expect(await tryWith(wrapperAddress)).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    });
  });

  test('a status is that of its own kind and organization', async () => {
    const { wrapperAddress, deployRequestId } = batched;
    const { root, wallet } = await newDepositor();
    const other = await newDepositor();
    const { depositRequestId } = await root.run('earn_deposit', deposit(wrapperAddress, wallet));
    const ask = async (client: TestClient, query: string, field: string, id: string) =>
      (await client.query(query, { [field]: id })).status;
    expect(await ask(root, 'get_earn_deposit_status', 'depositRequestId', depositRequestId)).toBe(200);
    expect(await ask(parent, 'get_earn_deploy_status', 'deployRequestId', deployRequestId)).toBe(200);
    expect(await ask(root, 'get_earn_withdraw_status', 'withdrawRequestId', depositRequestId)).toBe(404);
    expect(await ask(root, 'get_claim_earn_fees_status', 'claimRequestId', depositRequestId)).toBe(404);
    expect(await ask(other.root, 'get_earn_deposit_status', 'depositRequestId', depositRequestId)).toBe(404);
    expect(await ask(root, 'get_earn_deploy_status', 'deployRequestId', deployRequestId)).toBe(404);
  });
});
