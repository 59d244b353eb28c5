// CustosBatch in real EIP-7702 transactions: what the account itself sends, what it signs for others to carry, and what
// nobody else can make it do.
import { readFileSync } from 'node:fs';
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  keccak256,
  numberToHex,
  parseAbi,
  parseEther,
  toBytes,
  zeroAddress,
} from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  BATCH_DEPLOYMENT_DATA,
  batchAddress,
  CREATE2_PROXY,
} from '../../packages/server/src/domains/earn/contract-addresses.ts';
import { type Anvil, startAnvil } from '../chain/anvil.ts';
import { artifact, testArtifact } from '../chain/artifacts.ts';
import { type ChainClient, connectTo, type Deployed, fundedAccount } from '../chain/deploy.ts';

interface Call {
  readonly to: Address;
  readonly value: bigint;
  readonly data: Hex;
}

interface Batch {
  /** The operator if absent. */
  readonly carrier?: Address;
  readonly nonce: bigint;
  readonly deadline: bigint;
  readonly calls: readonly Call[];
}

const TYPES = {
  BatchExecution: [
    { name: 'carrier', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
    { name: 'calls', type: 'Call[]' },
  ],
  Call: [
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'data', type: 'bytes' },
  ],
} as const;
const FAR = 2n ** 40n;
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const REFUSED = '0xffffffff';

const account = privateKeyToAccount(generatePrivateKey());
const stranger = privateKeyToAccount(generatePrivateKey());
const operator = fundedAccount(1);
const receiver = privateKeyToAccount(generatePrivateKey()).address;

let node: Anvil;
let chain: ChainClient;
let snapshot: string;
let token: Deployed;
let vault: Deployed;
/** The account, seen as the contract whose code it borrows. */
let own: Deployed;

beforeAll(async () => {
  node = await startAnvil({ chainId: 8_453, secondsPerBlock: 1 });
  chain = connectTo(node);
  await chain.wallet(operator).sendTransactionSync({ to: CREATE2_PROXY, data: BATCH_DEPLOYMENT_DATA });
  token = await chain.deploy(testArtifact('TestToken'), ['Token', 'TKN', 6]);
  vault = await chain.deploy(testArtifact('TestVault'), [token.address]);
  own = { address: account.address, abi: artifact('CustosBatch').abi as Deployed['abi'] };
  for (const owner of [account, stranger]) {
    await node.setBalance(owner.address, parseEther('10'));
    await chain.write(operator, token, 'mint', [owner.address, 1_000n]);
    await delegate(owner);
  }
});
afterAll(() => node?.stop());
beforeEach(async () => {
  snapshot = await node.snapshot();
});
afterEach(() => node.revert(snapshot));

/** The operator brings the account's authorization and pays for it. */
async function delegate(owner: PrivateKeyAccount): Promise<void> {
  const authorization = await chain.wallet(owner).signAuthorization({ contractAddress: batchAddress() });
  const receipt = await chain
    .wallet(operator)
    .sendTransactionSync({ to: zeroAddress, authorizationList: [authorization], gas: 200_000n });
  expect(receipt.status).toBe('success');
}

const transfer = (amount: bigint, to: Address = receiver): Call => ({
  to: token.address,
  value: 0n,
  data: encodeFunctionData({ abi: token.abi, functionName: 'transfer', args: [to, amount] }),
});

const pay = (value: bigint, data: Hex = '0x'): Call => ({ to: receiver, value, data });

const batchOf = (calls: readonly Call[], nonce = 1n, deadline = FAR): Batch => ({ nonce, deadline, calls });

const typed = (batch: Batch, domain: { chainId?: number; verifyingContract?: Address } = {}) =>
  ({
    domain: {
      name: 'Custos Batch',
      version: '1',
      chainId: node.chainId,
      verifyingContract: account.address,
      ...domain,
    },
    types: TYPES,
    primaryType: 'BatchExecution',
    message: { carrier: operator.address, ...batch },
  }) as const;

const sign = (batch: Batch, signer = account, domain = {}) => signer.signTypedData(typed(batch, domain));

const carry = ({ nonce, deadline, calls }: Batch, signature: Hex) =>
  chain.write(operator, own, 'runSigned', [nonce, deadline, calls, signature]);

const balance = (address: Address) => chain.read<bigint>(token, 'balanceOf', [address]);

const runData = (calls: readonly Call[]): Hex =>
  encodeFunctionData({ abi: own.abi, functionName: 'run', args: [calls] });

test('an account approves and deposits in one transaction, which is its first', async () => {
  const fresh = privateKeyToAccount(generatePrivateKey());
  await node.setBalance(fresh.address, parseEther('1'));
  await chain.write(operator, token, 'mint', [fresh.address, 500n]);
  const wallet = chain.wallet(fresh);
  const calls = [
    { to: token.address, value: 0n, data: approval(500n) },
    { to: vault.address, value: 0n, data: deposit(500n, fresh.address) },
    pay(7n),
  ];
  const send = async (batch: readonly Call[]) => {
    const authorization = await wallet.signAuthorization({ contractAddress: batchAddress(), executor: 'self' });
    return await wallet.sendTransactionSync({
      to: fresh.address,
      data: runData(batch),
      authorizationList: [authorization],
      gas: 1_000_000n,
    });
  };
  const receipt = await send(calls);
  expect(receipt.status).toBe('success');
  expect(await chain.read(vault, 'balanceOf', [fresh.address])).toBe(500n);
  expect(await chain.read(token, 'allowance', [fresh.address, vault.address])).toBe(0n);
  expect(await chain.reader.getBalance({ address: receiver })).toBe(7n);
  expect(await chain.reader.getCode({ address: fresh.address })).toBe(
    concatHex(['0xef0100', batchAddress()]).toLowerCase(),
  );

  // The second call fails for want of tokens, and the approval before it is undone.
  expect((await send(calls)).status).toBe('reverted');
  expect(await chain.read(token, 'allowance', [fresh.address, vault.address])).toBe(0n);
});

const approval = (amount: bigint): Hex =>
  encodeFunctionData({ abi: token.abi, functionName: 'approve', args: [vault.address, amount] });

const deposit = (amount: bigint, owner: Address): Hex =>
  encodeFunctionData({ abi: vault.abi, functionName: 'deposit', args: [amount, owner] });

test('only the account itself runs calls without a signature', async () => {
  const batch = [transfer(5n)];
  expect((await chain.wallet(account).sendTransactionSync({ to: account.address, data: runData(batch) })).status).toBe(
    'success',
  );
  expect(await balance(receiver)).toBe(5n);
  await expect(chain.write(operator, own, 'run', [batch])).rejects.toThrow('NotTheAccount');
  await expect(chain.write(operator, own, 'invalidateNonce', [1n])).rejects.toThrow('NotTheAccount');
  // Nor does the contract at its own address obey anybody, an account with the same code among them.
  const contract = { address: batchAddress(), abi: own.abi };
  await expect(chain.write(operator, contract, 'run', [batch])).rejects.toThrow('NotTheAccount');
  const signature = await sign(batchOf(batch), account, { verifyingContract: batchAddress() });
  await expect(chain.write(operator, contract, 'runSigned', [1n, FAR, batch, signature])).rejects.toThrow(
    'InvalidSignature',
  );
});

test('a signed batch is carried by whom it was signed for, once, in any order of nonces', async () => {
  for (const nonce of [2n ** 256n - 1n, 0n, 300n, 255n, 256n]) {
    const batch = batchOf([transfer(1n)], nonce);
    const { calls, deadline } = batch;
    expect(await chain.read(own, 'batchHash', [operator.address, nonce, deadline, calls])).toBe(
      hashTypedData(typed(batch)),
    );
    const signature = await sign(batch);
    expect(await chain.read(own, 'isNonceUsed', [nonce])).toBe(false);
    await carry(batch, signature);
    expect(await chain.read(own, 'isNonceUsed', [nonce])).toBe(true);
    await expect(carry(batch, signature)).rejects.toThrow('NonceAlreadyUsed');
  }
  expect(await balance(receiver)).toBe(5n);
  expect(await chain.read(own, 'isNonceUsed', [1n])).toBe(false);
  // The nonces of one account are not those of another.
  expect(await chain.read({ ...own, address: stranger.address }, 'isNonceUsed', [0n])).toBe(false);
});

test('a signature counts for this account, chain, batch and time alone, and in one spelling', async () => {
  const batch = batchOf([transfer(1n), pay(2n, '0x1234')]);
  const signature = await sign(batch);
  const s = BigInt(`0x${signature.slice(66, 130)}`);
  const v = signature.endsWith('1b') ? '0x1c' : '0x1b';
  const high = concatHex([signature.slice(0, 66) as Hex, numberToHex(CURVE_ORDER - s, { size: 32 }), v]);
  const parity = signature.endsWith('1c') ? 1n << 255n : 0n;
  const compact = concatHex([signature.slice(0, 66) as Hex, numberToHex(s | parity, { size: 32 })]);
  const [first, second] = batch.calls as [Call, Call];
  const attacks: readonly [string, Batch, Hex][] = [
    ['another key', batch, await sign(batch, stranger)],
    ['another chain', batch, await sign(batch, account, { chainId: node.chainId + 1 })],
    ['another account', batch, await sign(batch, account, { verifyingContract: stranger.address })],
    ['s in the upper half', batch, high],
    ['64 bytes', batch, compact],
    ['a byte more', batch, concatHex([signature, '0x00'])],
    ['nothing', batch, '0x'],
    ['zeros', batch, `0x${'00'.repeat(65)}`],
    ['another carrier', batch, await sign({ ...batch, carrier: stranger.address })],
    ['another nonce', { ...batch, nonce: 2n }, signature],
    ['another deadline', { ...batch, deadline: FAR + 1n }, signature],
    ['another order', { ...batch, calls: [second, first] }, signature],
    ['a call less', { ...batch, calls: [first] }, signature],
    ['another value', { ...batch, calls: [first, { ...second, value: 3n }] }, signature],
    ['another receiver', { ...batch, calls: [first, { ...second, to: operator.address }] }, signature],
    ['other data', { ...batch, calls: [first, { ...second, data: '0x123400' }] }, signature],
  ];
  for (const [name, attacked, forged] of attacks) {
    await expect(carry(attacked, forged), name).rejects.toThrow('InvalidSignature');
  }
  const { timestamp } = await chain.reader.getBlock();
  const late = batchOf(batch.calls, 3n, timestamp - 1n);
  await expect(carry(late, await sign(late))).rejects.toThrow('DeadlinePassed');
  const punctual = batchOf(batch.calls, 3n, timestamp + 2n);
  await carry(punctual, await sign(punctual));
  await carry(batch, signature);
  expect(await balance(receiver)).toBe(2n);
  expect(await chain.reader.getBalance({ address: receiver })).toBe(4n);
});

test('a batch that fails does nothing, tells why, and can be ended before its deadline', async () => {
  const batch = batchOf([transfer(1n), transfer(10_000n)]);
  const signature = await sign(batch);
  const abi = parseAbi(['error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)']);
  const withErrors = { ...own, abi: [...own.abi, ...abi] };
  const attempt = () =>
    chain.write(operator, withErrors, 'runSigned', [batch.nonce, batch.deadline, batch.calls, signature]);
  await expect(attempt()).rejects.toThrow('ERC20InsufficientBalance');
  expect(await balance(receiver)).toBe(0n);
  expect(await chain.read(own, 'isNonceUsed', [1n])).toBe(false);

  const poor = batchOf([pay(parseEther('11'))], 2n);
  await expect(carry(poor, await sign(poor))).rejects.toThrow('BalanceTooLow');

  const ending = encodeFunctionData({ abi: own.abi, functionName: 'invalidateNonce', args: [1n] });
  const end = batchOf([{ to: account.address, value: 0n, data: ending }], 3n);
  await carry(end, await sign(end));
  await chain.write(operator, token, 'mint', [account.address, 20_000n]);
  await expect(attempt()).rejects.toThrow('NonceAlreadyUsed');
});

test('no second signed batch comes between two calls of the first', async () => {
  const forToken: Batch = { ...batchOf([pay(1n)], 7n), carrier: token.address };
  const inner = batchOf([pay(1n)], 7n);
  const data = encodeFunctionData({
    abi: own.abi,
    functionName: 'runSigned',
    args: [inner.nonce, inner.deadline, inner.calls, await sign(forToken)],
  });
  const outer = batchOf([transfer(1n), transfer(1n)]);
  const before = await node.snapshot();
  // Outside of a batch the token, for which it was signed, may carry it.
  await chain.write(operator, token, 'setHook', [account.address, data]);
  await chain.write(operator, token, 'mint', [operator.address, 1n]);
  await chain.write(operator, token, 'transfer', [receiver, 1n]);
  expect(await chain.read(token, 'hookSucceeded')).toBe(true);
  expect(await chain.reader.getBalance({ address: receiver })).toBe(1n);
  await node.revert(before);

  for (const run of [
    async () => carry(outer, await sign(outer)),
    () => chain.wallet(account).sendTransactionSync({ to: account.address, data: runData(outer.calls) }),
  ]) {
    await chain.write(operator, token, 'setHook', [account.address, data]);
    await run();
    expect(await chain.read(token, 'hookCalled')).toBe(true);
    expect(await chain.read(token, 'hookSucceeded')).toBe(false);
    expect(await chain.read(token, 'hookAnswer')).toBe(keccak256(toBytes('BatchUnderWay()')).slice(0, 10));
  }
  expect(await balance(receiver)).toBe(4n);
  // The lock ends with the batch.
  await carry(inner, await sign(inner));

  // What the account asks of itself is part of its own batch.
  const nested = batchOf([{ to: account.address, value: 0n, data: runData([transfer(1n)]) }, transfer(1n)], 8n);
  await carry(nested, await sign(nested));
  expect(await balance(receiver)).toBe(6n);
});

test('an account with borrowed code receives and signs as before', async () => {
  const wallet = chain.wallet(operator);
  const before = await chain.reader.getBalance({ address: account.address });
  for (const data of ['0x', '0x12345678', '0xff'] as const) {
    expect((await wallet.sendTransactionSync({ to: account.address, value: 1n, data })).status).toBe('success');
  }
  expect((await chain.reader.getBalance({ address: account.address })) - before).toBe(3n);

  const hash = keccak256('0x1234');
  const ask = async (signer: PrivateKeyAccount) =>
    await chain.read<Hex>(own, 'isValidSignature', [hash, await signer.sign({ hash })]);
  expect(await ask(account)).toBe('0x1626ba7e');
  expect(await ask(stranger)).toBe(REFUSED);

  const [from, id] = [operator.address, 1n];
  expect(await chain.read(own, 'onERC721Received', [from, from, id, '0x'])).toBe('0x150b7a02');
  expect(await chain.read(own, 'onERC1155Received', [from, from, id, 1n, '0x'])).toBe('0xf23a6e61');
  expect(await chain.read(own, 'onERC1155BatchReceived', [from, from, [id], [1n], '0x'])).toBe('0xbc197c81');
  for (const interfaceId of ['0x01ffc9a7', '0x1626ba7e', '0x150b7a02', '0x4e2312e0']) {
    expect(await chain.read(own, 'supportsInterface', [interfaceId])).toBe(true);
  }
  expect(await chain.read(own, 'supportsInterface', [REFUSED])).toBe(false);
});

test('it lies at the address that is documented', async () => {
  expect(readFileSync(new URL('../../contracts/README.md', import.meta.url), 'utf8')).toContain(
    `\`${batchAddress()}\``,
  );
  expect(await chain.reader.getCode({ address: batchAddress() })).toBeDefined();
});

test('used nonces lie where ERC-7201 says', async () => {
  const batch = batchOf([], 5n);
  await carry(batch, await sign(batch));
  const namespace = BigInt(keccak256(toBytes('custos.batch.nonces'))) - 1n;
  const root = BigInt(keccak256(encodeAbiParameters([{ type: 'uint256' }], [namespace]))) & ~0xffn;
  const slot = keccak256(encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], [0n, root]));
  expect(await chain.reader.getStorageAt({ address: account.address, slot })).toBe(numberToHex(1n << 5n, { size: 32 }));
});
