import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/lib/clock.ts';
import type { ReviewFinding } from '../../src/restore-review/review.ts';
import { SOLANA_CHAIN } from '../chain/fake-solana.ts';
import { SolanaServer } from '../chain/solana-server.ts';
import { wireOf } from '../chain/solana-transfer.ts';
import { newWallet, solana } from '../flows/fixtures/wallets.ts';
import { TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';
import { RestoredPlace } from './restored-place.ts';

// A service is lost and an older backup of it is restored. On Solana a send has one form, which lands or expires, and is
// known by what it says, whatever its blockhash is.

const { caip2 } = SOLANA_CHAIN;
const NO_BLOCKHASH = '1'.repeat(32);

const verdictsOf = (findings: readonly ReviewFinding[]): Record<string, unknown> =>
  Object.fromEntries(
    findings.flatMap((finding) =>
      finding.kind === 'send' ? [[finding.send.id, [finding.sighting.kind, finding.settlement.kind]]] : [],
    ),
  );

describe.each(databasesOf(import.meta.url))('Solana sends of a restored database on %s', (database) => {
  let node: SolanaServer;
  let lost: TestServer;
  let from: string;

  beforeEach(async () => {
    node = await SolanaServer.start();
    // Two equal payments need two blockhashes.
    node.isGrowing = true;
    lost = await TestServer.start({ database, env: { CUSTOS_CHAINS: JSON.stringify(node.settings()) } });
    from = (await newWallet(clientOf(lost), [solana()])).addresses[0] as string;
  });
  afterEach(async () => {
    await lost[Symbol.asyncDispose]();
    await node[Symbol.asyncDispose]();
  });

  const clientOf = ({ baseUrl }: TestServer) => TestClient.root(lost.credentials, baseUrl);
  async function send(lamports: number, service = lost): Promise<string> {
    const unsignedTransaction = wireOf({ signers: [from], blockhash: NO_BLOCKHASH, lamports });
    const parameters = { unsignedTransaction, signWiths: [from], caip2 };
    return (await clientOf(service).run('sol_send_transaction', parameters)).sendTransactionStatusId;
  }
  const becomes = (service: TestServer, sendTransactionStatusId: string, txStatus: string) =>
    vi.waitFor(
      async () => {
        const { body } = await clientOf(service).query('get_send_transaction_status', { sendTransactionStatusId });
        expect(body.txStatus).toBe(txStatus);
        return body;
      },
      { timeout: 20_000, interval: 20 },
    );

  /** What landed of a payment, each transaction once, however often it was handed over. */
  function landed(lamports: number): { readonly signature: string }[] {
    const paid = node.chain.handed.filter(
      ({ message, signature }) =>
        node.chain.landed.has(signature) &&
        Buffer.from(message).readBigUInt64LE(message.length - 8) === BigInt(lamports),
    );
    return [...new Set(paid.map(({ signature }) => signature))].map((signature) => ({ signature }));
  }

  test('what landed since the backup is not paid again, and what expired is sent anew', async () => {
    node.chain.landsAs = undefined;
    const underWay = { expires: await send(1), lands: await send(2) };
    for (const id of Object.values(underWay)) await becomes(lost, id, 'BROADCASTING');
    node.chain.isDown = true;
    const waiting = { landed: await send(10), one: await send(11), other: await send(11), dropped: await send(12) };
    await lost.kill();
    await using restored = await RestoredPlace.copyOf(lost);

    const handed = node.chain.handed.length;
    node.chain.isDown = false;
    node.chain.landsAs = 'finalized';
    await lost.start();
    await vi.waitFor(() => expect([10, 11, 12].map((lamports) => landed(lamports).length)).toEqual([1, 2, 1]), 20_000);
    await lost.kill();
    expect(node.chain.handed.length).toBeGreaterThan(handed);
    // One is on a fork that was given up, and what was under way was never taken.
    for (const { signature } of [...landed(12), ...landed(1)]) node.chain.landed.delete(signature);
    expect(landed(2)).toHaveLength(1);
    node.chain.grow(400);

    await restored.raiseFence();
    node.chain.timeOf = () => Date.now() - 2 * HOUR_MS;
    const early = await restored.review();
    const settled = { [waiting.landed]: ['landed', 'record'], [waiting.one]: ['landed', 'record'] };
    const rest = {
      [waiting.other]: ['landed', 'record'],
      [underWay.lands]: ['landed', 'record'],
      [underWay.expires]: ['void', 'fail'],
    };
    // The last block that the lost service may have signed over is not old enough.
    expect(verdictsOf(early.findings)).toEqual({ ...settled, ...rest, [waiting.dropped]: ['unseen', 'hold'] });
    node.chain.timeOf = () => Date.now();
    const late = await restored.review();
    expect(verdictsOf(late.findings)).toEqual({ ...settled, ...rest, [waiting.dropped]: ['void', 'keep'] });
    expect(late).toMatchObject({ sends: 6, undecided: 0 });

    expect(await restored.accept()).toMatchObject({ settled: 6, held: 0 });
    const service = await TestServer.start({ dataDir: restored.dataDir, env: restored.environment });
    try {
      const { solana: status } = await becomes(service, waiting.landed, 'INCLUDED');
      expect(status.signature).toBe(landed(10)[0]?.signature);
      for (const id of [waiting.one, waiting.other, waiting.dropped, underWay.lands, await send(10, service)])
        await becomes(service, id, 'INCLUDED');
      await becomes(service, underWay.expires, 'FAILED');
      expect([1, 2, 10, 11, 12].map((lamports) => landed(lamports).length)).toEqual([0, 1, 2, 2, 1]);
    } finally {
      await service[Symbol.asyncDispose]();
    }
  });

  test('a backup that says it is younger than it is does not hide what landed', async () => {
    node.chain.isDown = true;
    const id = await send(10);
    await lost.kill();
    await using restored = await RestoredPlace.copyOf(lost);
    node.chain.isDown = false;
    await lost.start();
    await becomes(lost, id, 'INCLUDED');
    await lost.kill();

    // The machine that made the backup had another clock, or somebody else wrote what it says of itself.
    await restored.raiseFence(0, Date.now() + HOUR_MS / 2);
    node.chain.grow(400);
    node.chain.timeOf = () => Date.now() + HOUR_MS;
    const reviewed = await restored.review();
    expect(verdictsOf(reviewed.findings)).toEqual({ [id]: ['landed', 'record'] });
    expect(await restored.accept()).toMatchObject({ settled: 1, held: 0 });
    await using service = await TestServer.start({ dataDir: restored.dataDir, env: restored.environment });
    await becomes(service, id, 'INCLUDED');
    expect(landed(10)).toHaveLength(1);
  });

  test('while its chain is away a send is held, and is settled when that is back', async () => {
    node.chain.isDown = true;
    const id = await send(10);
    await lost.kill();
    await using restored = await RestoredPlace.copyOf(lost);
    node.chain.isDown = false;
    await lost.start();
    await becomes(lost, id, 'INCLUDED');
    await lost.kill();

    await restored.raiseFence();
    node.chain.isDown = true;
    const reviewed = await restored.review();
    expect(verdictsOf(reviewed.findings)).toEqual({ [id]: ['unknown', 'hold'] });
    expect(reviewed.undecided).toBe(1);
    await expect(restored.accept([`${id}=resend`])).rejects.toThrow(
      /wait until the chain can be asked whether it landed/,
    );
    expect(await restored.accept()).toMatchObject({ settled: 0, held: 1 });
    node.chain.isDown = false;
    const service = await TestServer.start({ dataDir: restored.dataDir, env: restored.environment });
    try {
      await becomes(service, await send(20, service), 'INCLUDED');
      await becomes(service, id, 'INITIALIZED');
      // Beside the service, once the chain tells what became of it.
      expect(await restored.accept()).toMatchObject({ settled: 1, held: 0 });
      await becomes(service, id, 'INCLUDED');
      expect(landed(10)).toHaveLength(1);
    } finally {
      await service[Symbol.asyncDispose]();
    }
  });
});
