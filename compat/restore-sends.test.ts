// What becomes of sends when a service is lost and an older backup of it is restored: what the lost service has paid since
// is not paid again. The chain is a real node.
import { type Address, type Hex, keccak256, parseEther, parseTransaction } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../packages/server/src/lib/limits.ts';
import { databasesOf } from '../packages/server/test/harness/databases.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { RestoredPlace } from '../packages/server/test/restore-review/restored-place.ts';
import { type Anvil, startAnvil } from './chain/anvil.ts';
import { type ChainClient, connectTo, fundedAccount } from './chain/deploy.ts';
import { poll } from './chain/poll.ts';
import { TroubledNode } from './chain/troubled-node.ts';
import { connect, fresh } from './sdk.ts';

const CHAIN = 'eip155:31337' as never;
const TO = fundedAccount(9).address;
/** Makes every request another one: the same one twice is the same activity. */
let serial = 0;

describe.each(databasesOf(import.meta.url))('with %s', (database) => {
  let anvil: Anvil;
  let chain: ChainClient;
  let node: TroubledNode;
  let lost: TestServer;

  beforeAll(async () => {
    anvil = await startAnvil({ automine: false });
    chain = connectTo(anvil);
    node = await TroubledNode.start(anvil.url);
    const chains = { 'eip155:31337': { rpcUrls: [node.url], pollMs: 100, replaceAfterSeconds: 1 } };
    const env = { CUSTOS_CHAINS: JSON.stringify(chains), CUSTOS_LOG_LEVEL: 'error' };
    lost = await TestServer.start({ database, env });
  });

  afterAll(async () => {
    await lost?.[Symbol.asyncDispose]();
    await node?.[Symbol.asyncDispose]();
    await anvil?.stop();
  });

  const clientOf = (service: TestServer) => connect(service.baseUrl, lost.credentials);

  async function newWallet(): Promise<Address> {
    const account = { curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: "m/44'/60'/0'/0/0" } as const;
    const { addresses } = await clientOf(lost).createWallet({
      walletName: fresh('wallet'),
      accounts: [{ ...account, addressFormat: 'ADDRESS_FORMAT_ETHEREUM' }],
    });
    const [address] = addresses as [Address];
    await anvil.setBalance(address, parseEther('100'));
    return address;
  }

  /** Ten ether and a little, so that each is known by its amount. */
  async function send(service: TestServer, from: Address): Promise<{ readonly id: string; readonly value: bigint }> {
    serial += 1;
    const value = parseEther('10') + BigInt(serial);
    const wish = { caip2: CHAIN, from, calls: [{ to: TO, value: String(value) }] };
    // A body of the first minutes after a restore may have run before it, by a clock that was ahead.
    const ahead = service === lost ? {} : { timestampMs: String(Date.now() + LIMITS.liveAfterMs - 1000) };
    return { id: (await clientOf(service).ethSendTransaction({ ...wish, ...ahead })).sendTransactionStatusId, value };
  }

  const statusOf = (service: TestServer, sendTransactionStatusId: string) =>
    clientOf(service).getSendTransactionStatus({ sendTransactionStatusId });
  const becomes = (service: TestServer, id: string, wanted: string) =>
    poll(
      async () => {
        await anvil.mine();
        return await statusOf(service, id);
      },
      ({ txStatus }) => txStatus === wanted,
    );
  const countOf = (address: Address): Promise<number> => chain.reader.getTransactionCount({ address });

  /** What an address has paid to the receiver, by the blocks. */
  async function paidBy(address: Address): Promise<bigint[]> {
    const head = await chain.reader.getBlockNumber();
    const blocks = await Promise.all(
      Array.from({ length: Number(head) + 1 }, (_, at) =>
        chain.reader.getBlock({ blockNumber: BigInt(at), includeTransactions: true }),
      ),
    );
    return blocks
      .flatMap(({ transactions }) => transactions)
      .filter(({ from, to }) => from.toLowerCase() === address.toLowerCase() && to?.toLowerCase() === TO.toLowerCase())
      .map(({ value }) => value);
  }

  const handedFrom = (value: bigint): Hex[] =>
    node.handed.filter((raw) => parseTransaction(raw as Hex).value === value).map((raw) => keccak256(raw as Hex));

  test('what landed since the backup is not paid again, and the next send leaves', async () => {
    const [landed, raised, pending, taken, unseen, twice] = (await Promise.all(
      Array.from({ length: 6 }, newWallet),
    )) as [Address, Address, Address, Address, Address, Address];
    // On their way in the backup, and in no block.
    const underWay = { raised: await send(lost, raised), taken: await send(lost, taken) };
    for (const { id } of Object.values(underWay))
      await poll(
        () => statusOf(lost, id),
        ({ txStatus }) => txStatus === 'BROADCASTING',
      );
    await poll(
      async () => node.handed.length,
      (count) => count >= 2,
    );
    // Waiting in the backup: no node is there.
    node.trouble = 'down';
    const waiting = {
      landed: await send(lost, landed),
      pending: await send(lost, pending),
      unseen: await send(lost, unseen),
      first: await send(lost, twice),
      second: await send(lost, twice),
    };
    await lost.kill();
    await using restored = await RestoredPlace.copyOf(lost);

    // The lost service goes on: it signs what waited, and raises the fee of what no block takes.
    node.trouble = 'none';
    await lost.start();
    await poll(
      async () => Object.values(waiting).map(({ value }) => handedFrom(value).length),
      (counts) => counts.every((count) => count >= 1),
    );
    await poll(
      async () => handedFrom(underWay.raised.value).length,
      (count) => count >= 2,
    );
    await lost.kill();
    const raw = new Map(node.handed.map((bytes) => [keccak256(bytes as Hex), bytes]));
    const newest = (value: bigint): Hex => handedFrom(value).at(-1) as Hex;
    const [pendingHash, unseenHash] = [newest(waiting.pending.value), newest(waiting.unseen.value)];
    for (const hash of [pendingHash, unseenHash, newest(underWay.taken.value)])
      await anvil.request('anvil_dropTransaction', [hash]);
    await anvil.impersonate(taken);
    await anvil.request('eth_sendTransaction', [{ from: taken, to: fundedAccount(8).address, value: '0x1' }]);
    await anvil.mine(2);
    await anvil.request('eth_sendRawTransaction', [raw.get(pendingHash)]);
    expect(await Promise.all([landed, raised, pending, taken, unseen, twice].map(countOf))).toEqual([1, 1, 0, 1, 0, 2]);

    await restored.raiseFence();
    const reviewed = await restored.review();
    const verdicts = new Map(
      reviewed.findings.flatMap((finding) =>
        finding.kind === 'send'
          ? [
              [
                finding.send.id as string,
                [
                  finding.sighting.kind,
                  finding.settlement.kind,
                  'attempt' in finding.sighting ? finding.sighting.attempt.hash : undefined,
                ],
              ],
            ]
          : [],
      ),
    );
    expect(Object.fromEntries(verdicts)).toEqual({
      [underWay.raised.id]: ['landed', 'record', newest(underWay.raised.value)],
      [underWay.taken.id]: ['void', 'fail', undefined],
      [waiting.landed.id]: ['landed', 'record', newest(waiting.landed.value)],
      [waiting.pending.id]: ['pending', 'record', pendingHash],
      [waiting.unseen.id]: ['unseen', 'hold', undefined],
      [waiting.first.id]: ['landed', 'record', newest(waiting.first.value)],
      [waiting.second.id]: ['landed', 'record', newest(waiting.second.value)],
    });
    expect(reviewed).toMatchObject({ sends: 7, undecided: 1 });

    expect(await restored.accept()).toMatchObject({ settled: 6, held: 1 });
    const service = await TestServer.start({ dataDir: restored.dataDir, env: restored.environment });
    try {
      const [one] = await Promise.all([
        becomes(service, waiting.landed.id, 'INCLUDED'),
        becomes(service, waiting.pending.id, 'INCLUDED'),
      ]);
      expect(one.eth?.txHash).toBe(newest(waiting.landed.value));
      for (const { id } of [underWay.raised, waiting.first, waiting.second]) await becomes(service, id, 'INCLUDED');
      expect((await statusOf(service, underWay.taken.id)).txStatus).toBe('FAILED');
      expect((await statusOf(service, waiting.unseen.id)).txStatus).toBe('INITIALIZED');
      // Each goes on with the next nonce, and nothing was paid twice.
      for (const address of [landed, raised, pending, twice])
        await becomes(service, (await send(service, address)).id, 'INCLUDED');
      const paid = await Promise.all([landed, raised, pending, taken, unseen, twice].map(paidBy));
      expect(paid.map((values) => values.length)).toEqual([2, 2, 2, 0, 0, 3]);
      expect(paid.map((values) => new Set(values).size)).toEqual([2, 2, 2, 0, 0, 3]);
      // What nobody knew is decided beside the running service.
      expect(await restored.accept([`${waiting.unseen.id}=resend`])).toMatchObject({ settled: 1, held: 0 });
      await becomes(service, waiting.unseen.id, 'INCLUDED');
      expect(await paidBy(unseen)).toEqual([waiting.unseen.value]);
    } finally {
      await service[Symbol.asyncDispose]();
    }
  });
});
