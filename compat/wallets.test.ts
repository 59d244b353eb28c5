// The unmodified server SDK creates, lists, signs with and deletes wallets and private keys of the running service.
import { createPublicKey, verify } from 'node:crypto';
import { verifyAppProofSignature } from '@turnkey/crypto';
import {
  addressFormatConfig,
  DEFAULT_ETHEREUM_ACCOUNTS,
  DEFAULT_SOLANA_ACCOUNTS,
  defaultEthereumAccountAtIndex,
  defaultSolanaAccountAtIndex,
  generateWalletAccountsFromAddressFormat,
  type TurnkeyApiClient,
} from '@turnkey/sdk-server';
import { keccak256, recoverAddress, sha256, stringToHex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newKeyPair } from '../packages/server/test/harness/client.ts';
import { databasesOf } from '../packages/server/test/harness/databases.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { connect, credentialsOf, errorCodeOf, fresh, openCouncil, refusal, UNKNOWN_ID, userOf } from './sdk.ts';

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const ETHEREUM = /^0x[0-9a-fA-F]{40}$/;
const SOLANA = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
/** What precedes an Ed25519 and a compressed P-256 public key in a SubjectPublicKeyInfo. */
const SPKI = {
  ed25519: '302a300506032b6570032100',
  p256: '3039301306072a8648ce3d020106082a8648ce3d030107032200',
} as const;

const publicKeyOf = (kind: keyof typeof SPKI, hex: string) =>
  createPublicKey({ key: Buffer.from(SPKI[kind] + hex, 'hex'), format: 'der', type: 'spki' });

/** A compressed P-256 point; the service takes both spellings. */
const newTarget = () => newKeyPair().publicKey;

describe.each(databasesOf(import.meta.url))('wallets through the server SDK on %s', (database) => {
  let service: TestServer;
  let root: TurnkeyApiClient;
  let organizationId: string;

  const newWallet = async (client = root) => {
    const walletName = fresh('wallet');
    const created = await client.createWallet({
      walletName,
      accounts: [...DEFAULT_ETHEREUM_ACCOUNTS, ...DEFAULT_SOLANA_ACCOUNTS],
    });
    const [ethereum, solana] = created.addresses as [string, string];
    return { walletName, walletId: created.walletId, ethereum, solana };
  };

  /** An organization that no other test looks into. */
  const openChild = async () => {
    const key = newKeyPair();
    const { subOrganizationId } = await root.createSubOrganization({
      subOrganizationName: fresh('child'),
      rootQuorumThreshold: 1,
      rootUsers: [userOf('owner', key)],
    });
    return { id: subOrganizationId, client: connect(service.baseUrl, credentialsOf(subOrganizationId, key)) };
  };

  beforeAll(async () => {
    service = await TestServer.start({ database });
    root = connect(service.baseUrl, service.credentials);
    ({ organizationId } = service.credentials);
  });

  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  test('a wallet and its accounts, created, read and listed', async () => {
    const { id, client } = await openChild();
    const { walletId, walletName, ethereum, solana } = await newWallet(client);
    expect(walletId).toMatch(UUID);
    expect(ethereum).toMatch(ETHEREUM);
    expect(solana).toMatch(SOLANA);

    const wallet = {
      walletId,
      walletName,
      exported: false,
      imported: false,
      createdAt: { seconds: expect.stringMatching(/^\d+$/), nanos: expect.stringMatching(/^\d+$/) },
      updatedAt: { seconds: expect.stringMatching(/^\d+$/), nanos: expect.stringMatching(/^\d+$/) },
    };
    expect((await client.getWallet({ walletId })).wallet).toEqual(wallet);
    expect((await client.getWallets()).wallets).toEqual([wallet]);

    const { accounts } = await client.getWalletAccounts({ walletId });
    expect(accounts).toMatchObject([
      {
        walletAccountId: expect.stringMatching(UUID),
        organizationId: id,
        walletId,
        curve: 'CURVE_SECP256K1',
        pathFormat: 'PATH_FORMAT_BIP32',
        path: "m/44'/60'/0'/0/0",
        addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
        address: ethereum,
        publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
        caip2Prefix: 'eip155',
      },
      {
        curve: 'CURVE_ED25519',
        path: "m/44'/501'/0'/0'",
        addressFormat: 'ADDRESS_FORMAT_SOLANA',
        address: solana,
        publicKey: expect.stringMatching(/^[0-9a-f]{64}$/),
        caip2Prefix: 'solana',
      },
    ]);
    // Without a wallet: all of the organization; with details when they are asked for.
    const detailed = await client.getWalletAccounts({ includeWalletDetails: true });
    expect(detailed.accounts).toEqual(accounts.map((account) => ({ ...account, walletDetails: wallet })));

    const byAddress = await client.getWalletAccount({ walletId, address: solana });
    expect(byAddress.account).toEqual(accounts[1]);
    const byPath = await client.getWalletAccount({ walletId, path: "m/44'/60'/0'/0/0" });
    expect(byPath.account).toEqual(accounts[0]);

    // The parent reads its sub-organizations.
    expect((await root.getWallets({ organizationId: id })).wallets).toEqual([wallet]);
    const { organizationIds } = await root.getSubOrgIds({ filterType: 'WALLET_ACCOUNT_ADDRESS', filterValue: solana });
    expect(organizationIds).toEqual([id]);
  });

  test('accounts by the page', async () => {
    const { client } = await openChild();
    const accounts = Array.from({ length: 5 }, (_, index) => defaultEthereumAccountAtIndex(index));
    const { walletId, addresses } = await client.createWallet({ walletName: 'five', accounts });
    const seen: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await client.getWalletAccounts({
        walletId,
        paginationOptions: { limit: '2', ...(after !== undefined && { after }) },
      });
      seen.push(...page.accounts.map(({ address }) => address));
      if (page.accounts.length < 2) break;
      after = page.accounts.at(-1)?.walletAccountId as string;
    }
    expect(seen).toEqual(addresses);
  });

  test('more accounts later, or only their addresses', async () => {
    const { walletId, ethereum } = await newWallet();
    const second = [defaultEthereumAccountAtIndex(1), defaultSolanaAccountAtIndex(1)];
    const preview = await root.createWalletAccounts({ walletId, accounts: second, persist: false });
    expect((await root.getWalletAccounts({ walletId })).accounts).toHaveLength(2);
    const { addresses } = await root.createWalletAccounts({ walletId, accounts: second });
    expect(addresses).toEqual(preview.addresses);
    expect(addresses).toEqual([expect.stringMatching(ETHEREUM), expect.stringMatching(SOLANA)]);
    expect(addresses).not.toContain(ethereum);
    const { accounts } = await root.getWalletAccounts({ walletId });
    expect(accounts.map(({ address }) => address).slice(2)).toEqual(addresses);
    const again = await refusal(root.createWalletAccounts({ walletId, accounts: second }));
    expect(again.code).toBe(6);
    expect(again.message).toContain('already exists');
  });

  test('every account that the SDK has a default for, and its way to sign a message', async () => {
    const formats = Object.entries(addressFormatConfig)
      .filter(([, { defaultAccounts }]) => defaultAccounts !== null)
      .map(([format]) => format as keyof typeof addressFormatConfig);
    expect(formats).toHaveLength(35);
    const accounts = generateWalletAccountsFromAddressFormat({ addresses: formats });
    const { walletId, addresses } = await root.createWallet({ walletName: fresh('all'), accounts, mnemonicLength: 24 });
    const listed = await root.getWalletAccounts({ walletId });
    expect(listed.accounts.map(({ path, addressFormat, address }) => ({ path, addressFormat, address }))).toEqual(
      accounts.map(({ path, addressFormat }, index) => ({ path, addressFormat, address: addresses[index] })),
    );
    for (const [index, signWith] of addresses.entries()) {
      const { encoding, hashFunction } = addressFormatConfig[formats[index] as keyof typeof addressFormatConfig];
      const payload = encoding === 'PAYLOAD_ENCODING_TEXT_UTF8' ? 'hello' : '68656c6c6f';
      const { r, s } = await root.signRawPayload({ signWith, payload, encoding, hashFunction });
      expect([formats[index], r + s]).toEqual([formats[index], expect.stringMatching(/^[0-9a-f]{128}$/)]);
    }
  });

  test('a sub-organization that begins with a wallet', async () => {
    const key = newKeyPair();
    const { subOrganizationId, wallet } = await root.createSubOrganization({
      subOrganizationName: fresh('with wallet'),
      rootQuorumThreshold: 1,
      rootUsers: [userOf('owner', key)],
      wallet: { walletName: 'First wallet', accounts: [...DEFAULT_ETHEREUM_ACCOUNTS], mnemonicLength: 15 },
    });
    expect(wallet).toEqual({ walletId: expect.stringMatching(UUID), addresses: [expect.stringMatching(ETHEREUM)] });
    const owner = connect(service.baseUrl, credentialsOf(subOrganizationId, key));
    const { accounts } = await owner.getWalletAccounts({ walletId: wallet?.walletId as string });
    expect(accounts.map(({ address }) => address)).toEqual(wallet?.addresses);
    const payload = keccak256(stringToHex('mine'));
    const signed = await owner.signRawPayload({
      signWith: wallet?.addresses[0] as string,
      payload,
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    });
    const recovered = await recoverAddress({
      hash: payload,
      signature: { r: `0x${signed.r}`, s: `0x${signed.s}`, yParity: Number.parseInt(signed.v, 16) },
    });
    expect(recovered).toBe(wallet?.addresses[0]);
  });

  test('renamed, marked by an export, deleted', async () => {
    const { walletId, walletName, ethereum } = await newWallet();
    expect((await root.updateWallet({ walletId, walletName: `${walletName} again` })).walletId).toBe(walletId);

    const early = await refusal(root.deleteWallets({ walletIds: [walletId] }));
    expect(early.code).toBe(3);
    expect(errorCodeOf(early)).toBe('WALLET_ACCOUNT_NOT_EXPORTED');

    const { accounts } = await root.getWalletAccounts({ walletId });
    const ids = accounts.map(({ walletAccountId }) => walletAccountId);
    await root.exportWalletAccount({ address: ethereum, targetPublicKey: newTarget() });
    const one = await root.deleteWalletAccounts({ walletAccountIds: [ids[0] as string] });
    expect(one.walletAccountIds).toEqual([ids[0]]);
    const unexported = await refusal(root.deleteWalletAccounts({ walletAccountIds: [ids[1] as string] }));
    expect(errorCodeOf(unexported)).toBe('WALLET_ACCOUNT_NOT_EXPORTED');
    await root.deleteWalletAccounts({ walletAccountIds: [ids[1] as string], deleteWithoutExport: true });
    expect((await root.getWalletAccounts({ walletId })).accounts).toEqual([]);

    await root.exportWallet({ walletId, targetPublicKey: newTarget() });
    expect((await root.getWallet({ walletId })).wallet).toMatchObject({
      walletName: `${walletName} again`,
      exported: true,
      imported: false,
    });
    expect((await root.deleteWallets({ walletIds: [walletId] })).walletIds).toEqual([walletId]);
    expect((await refusal(root.getWallet({ walletId }))).code).toBe(5);
  });

  test('private keys and their tags', async () => {
    const { privateKeyTagId } = await root.createPrivateKeyTag({
      privateKeyTagName: fresh('tag'),
      privateKeyIds: [],
    });
    const names = [fresh('key'), fresh('key'), fresh('key')] as const;
    const { privateKeys } = await root.createPrivateKeys({
      privateKeys: [
        {
          privateKeyName: names[0],
          curve: 'CURVE_SECP256K1',
          addressFormats: ['ADDRESS_FORMAT_ETHEREUM', 'ADDRESS_FORMAT_COSMOS'],
          privateKeyTags: [privateKeyTagId],
        },
        {
          privateKeyName: names[1],
          curve: 'CURVE_ED25519',
          addressFormats: ['ADDRESS_FORMAT_SOLANA'],
          privateKeyTags: [],
        },
        { privateKeyName: names[2], curve: 'CURVE_P256', addressFormats: [], privateKeyTags: [] },
      ],
    });
    expect(privateKeys.map(({ addresses }) => addresses)).toEqual([
      [
        { format: 'ADDRESS_FORMAT_ETHEREUM', address: expect.stringMatching(ETHEREUM) },
        { format: 'ADDRESS_FORMAT_COSMOS', address: expect.stringMatching(/^cosmos1/) },
      ],
      [{ format: 'ADDRESS_FORMAT_SOLANA', address: expect.stringMatching(SOLANA) }],
      [],
    ]);
    const ids = privateKeys.map(({ privateKeyId }) => privateKeyId as string);
    const { privateKey } = await root.getPrivateKey({ privateKeyId: ids[0] as string });
    expect(privateKey).toMatchObject({
      privateKeyId: ids[0],
      privateKeyName: names[0],
      curve: 'CURVE_SECP256K1',
      publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
      addresses: expect.arrayContaining(privateKeys[0]?.addresses ?? []),
      privateKeyTags: [privateKeyTagId],
      exported: false,
      imported: false,
    });
    const listed = (await root.getPrivateKeys()).privateKeys;
    expect(listed.filter((key) => ids.includes(key.privateKeyId)).map((key) => key.privateKeyName)).toEqual(names);

    const renamed = fresh('tag');
    await root.updatePrivateKeyTag({
      privateKeyTagId,
      newPrivateKeyTagName: renamed,
      addPrivateKeyIds: [ids[1] as string],
      removePrivateKeyIds: [ids[0] as string],
    });
    const { privateKeyTags } = await root.listPrivateKeyTags({});
    expect(privateKeyTags).toContainEqual(expect.objectContaining({ tagId: privateKeyTagId, tagName: renamed }));
    const tagged = await root.getPrivateKey({ privateKeyId: ids[1] as string });
    expect(tagged.privateKey.privateKeyTags).toEqual([privateKeyTagId]);
    await root.deletePrivateKeyTags({ privateKeyTagIds: [privateKeyTagId] });

    await root.exportPrivateKey({ privateKeyId: ids[0] as string, targetPublicKey: newTarget() });
    expect((await root.getPrivateKey({ privateKeyId: ids[0] as string })).privateKey.exported).toBe(true);
    const early = await refusal(root.deletePrivateKeys({ privateKeyIds: ids }));
    expect(early.code).toBe(3);
    expect((await root.deletePrivateKeys({ privateKeyIds: ids, deleteWithoutExport: true })).privateKeyIds).toEqual(
      ids,
    );
    expect((await refusal(root.getPrivateKey({ privateKeyId: ids[0] as string }))).code).toBe(5);
  });

  describe('signatures', () => {
    test('secp256k1 with each encoding and hash function', async () => {
      const { ethereum } = await newWallet();
      const text = 'pay 5 to Zoë';
      const cases = [
        ['PAYLOAD_ENCODING_TEXT_UTF8', 'HASH_FUNCTION_KECCAK256', text, keccak256(stringToHex(text))],
        ['PAYLOAD_ENCODING_TEXT_UTF8', 'HASH_FUNCTION_SHA256', text, sha256(stringToHex(text))],
        ['PAYLOAD_ENCODING_HEXADECIMAL', 'HASH_FUNCTION_KECCAK256', '00ff', keccak256('0x00ff')],
        ['PAYLOAD_ENCODING_HEXADECIMAL', 'HASH_FUNCTION_SHA256', '0x00ff', sha256('0x00ff')],
        ['PAYLOAD_ENCODING_HEXADECIMAL', 'HASH_FUNCTION_NO_OP', keccak256('0x01').slice(2), keccak256('0x01')],
      ] as const;
      for (const [encoding, hashFunction, payload, hash] of cases) {
        const { r, s, v } = await root.signRawPayload({ signWith: ethereum, payload, encoding, hashFunction });
        expect([r, s, v]).toEqual([
          expect.stringMatching(/^[0-9a-f]{64}$/),
          expect.stringMatching(/^[0-7][0-9a-f]{63}$/),
          expect.stringMatching(/^0[01]$/),
        ]);
        const yParity = Number.parseInt(v, 16);
        expect(await recoverAddress({ hash, signature: { r: `0x${r}`, s: `0x${s}`, yParity } })).toBe(ethereum);
      }
      // Addresses of Ethereum are the same in any case.
      const lower = await root.signRawPayload({
        signWith: ethereum.toLowerCase(),
        payload: text,
        encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
        hashFunction: 'HASH_FUNCTION_KECCAK256',
      });
      expect(lower.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    });

    test('Ed25519, one and many in their order', async () => {
      const { walletId, solana } = await newWallet();
      const { account } = await root.getWalletAccount({ walletId, address: solana });
      const key = publicKeyOf('ed25519', account.publicKey as string);
      const payloads = ['one', 'two', 'three'];
      const { signatures } = await root.signRawPayloads({
        signWith: solana,
        payloads,
        encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
        hashFunction: 'HASH_FUNCTION_NOT_APPLICABLE',
      });
      expect(signatures).toHaveLength(3);
      for (const [index, { r, s, v }] of (signatures ?? []).entries()) {
        expect(v).toBe('00');
        expect(verify(null, Buffer.from(payloads[index] as string), key, Buffer.from(r + s, 'hex'))).toBe(true);
      }
      const refused = await refusal(
        root.signRawPayload({
          signWith: solana,
          payload: 'one',
          encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
          hashFunction: 'HASH_FUNCTION_SHA256',
        }),
      );
      expect(refused.code).toBe(3);
    });

    test('P-256 by the id of a private key', async () => {
      const { privateKeys } = await root.createPrivateKeys({
        privateKeys: [{ privateKeyName: fresh('key'), curve: 'CURVE_P256', addressFormats: [], privateKeyTags: [] }],
      });
      const privateKeyId = privateKeys[0]?.privateKeyId as string;
      const { privateKey } = await root.getPrivateKey({ privateKeyId });
      const { r, s } = await root.signRawPayload({
        signWith: privateKeyId,
        payload: 'escrow',
        encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
        hashFunction: 'HASH_FUNCTION_SHA256',
      });
      const key = publicKeyOf('p256', privateKey.publicKey);
      const signature = Buffer.from(r + s, 'hex');
      expect(verify('sha256', Buffer.from('escrow'), { key, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
    });
  });

  test('app proofs of the new addresses', async () => {
    const { walletId, addresses, activity } = await root.createWallet({
      walletName: fresh('proven'),
      accounts: [...DEFAULT_ETHEREUM_ACCOUNTS, ...DEFAULT_SOLANA_ACCOUNTS],
      generateAppProofs: true,
    });
    const { appProofs } = await root.getAppProofs({ activityId: activity.id });
    expect(appProofs).toHaveLength(3);
    for (const proof of appProofs) verifyAppProofSignature(proof);
    const derivations = appProofs
      .map(({ proofPayload }) => JSON.parse(proofPayload))
      .filter(({ type }) => type === 'APP_PROOF_TYPE_ADDRESS_DERIVATION');
    expect(derivations.map(({ addressDerivationProof }) => addressDerivationProof)).toEqual([
      { organizationId, walletId, derivationPath: "m/44'/60'/0'/0/0", address: addresses[0] },
      { organizationId, walletId, derivationPath: "m/44'/501'/0'/0'", address: addresses[1] },
    ]);
  });

  test('a quorum that has to agree before anything is signed', async () => {
    const { id, members } = await openCouncil(service.baseUrl, root, 2);
    const [first, second] = members as [TurnkeyApiClient, TurnkeyApiClient];
    // The SDK answers the activity alone while others have to agree.
    const proposed = await first.createWallet({ walletName: 'treasury', accounts: [...DEFAULT_ETHEREUM_ACCOUNTS] });
    expect(proposed.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(proposed.walletId).toBeUndefined();
    expect((await first.getWallets()).wallets).toEqual([]);
    await second.approveActivity({ fingerprint: proposed.activity.fingerprint });
    const created = await first.getActivity({ activityId: proposed.activity.id });
    const address = created.activity.result.createWalletResult?.addresses[0] as string;
    expect(address).toMatch(ETHEREUM);

    const payload = keccak256(stringToHex('spend'));
    const request = {
      signWith: address,
      payload,
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    } as const;
    const asked = await first.signRawPayload(request);
    expect(asked.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(asked.activity.result).toEqual({});
    expect(asked.r).toBeUndefined();
    await second.approveActivity({ fingerprint: asked.activity.fingerprint });
    const { activity } = await first.getActivity({ activityId: asked.activity.id, organizationId: id });
    const { r, s, v } = activity.result.signRawPayloadResult as { r: string; s: string; v: string };
    const signature = { r: `0x${r}`, s: `0x${s}`, yParity: Number.parseInt(v, 16) } as const;
    expect(await recoverAddress({ hash: payload, signature })).toBe(address);

    const vetoed = await first.signRawPayload({ ...request, payload: keccak256('0x02') });
    await second.rejectActivity({ fingerprint: vetoed.activity.fingerprint });
    const rejected = await first.getActivity({ activityId: vetoed.activity.id });
    expect(rejected.activity.status).toBe('ACTIVITY_STATUS_REJECTED');
    expect(rejected.activity.result).toEqual({});
  });

  test('refusals have the shape that the SDK reads', async () => {
    const { walletId, ethereum } = await newWallet();
    const sign = { payload: '00', encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', signWith: ethereum } as const;
    const cases: [() => Promise<unknown>, number, string][] = [
      [() => root.getWallet({ walletId: UNKNOWN_ID }), 5, 'RESOURCE_NOT_FOUND'],
      [() => root.getWalletAccounts({ walletId: UNKNOWN_ID }), 5, 'RESOURCE_NOT_FOUND'],
      [() => root.getWalletAccount({ walletId, address: `0x${'0'.repeat(40)}` }), 5, 'RESOURCE_NOT_FOUND'],
      [() => root.getWalletAccount({ walletId }), 3, 'REQUEST_INVALID'],
      [() => root.getPrivateKey({ privateKeyId: UNKNOWN_ID }), 5, 'RESOURCE_NOT_FOUND'],
      [() => root.createWallet({ walletName: '', accounts: [] }), 3, 'REQUEST_INVALID'],
      [
        () =>
          root.createWallet({
            walletName: fresh('bad'),
            accounts: [{ ...defaultEthereumAccountAtIndex(0), path: 'm/44/x' }],
          }),
        3,
        'INVALID_PATH',
      ],
      [
        () =>
          root.createWallet({
            walletName: fresh('bad'),
            accounts: [{ ...defaultEthereumAccountAtIndex(0), curve: 'CURVE_ED25519' }],
          }),
        3,
        'INVALID_ADDRESS_FORMAT',
      ],
      [() => root.signRawPayload({ ...sign, hashFunction: 'HASH_FUNCTION_NO_OP' }), 3, 'INVALID_HASH_FUNCTION'],
      [
        () => root.signRawPayload({ ...sign, payload: '0x0', hashFunction: 'HASH_FUNCTION_SHA256' }),
        3,
        'INVALID_PAYLOAD_ENCODING',
      ],
      [
        () => root.signRawPayload({ ...sign, hashFunction: 'HASH_FUNCTION_NOT_APPLICABLE' }),
        3,
        'INVALID_HASH_FUNCTION',
      ],
      [
        () => root.signRawPayload({ ...sign, signWith: UNKNOWN_ID, hashFunction: 'HASH_FUNCTION_SHA256' }),
        5,
        'RESOURCE_NOT_FOUND',
      ],
      [
        () =>
          root.signTransaction({ signWith: ethereum, type: 'TRANSACTION_TYPE_ETHEREUM', unsignedTransaction: '02c0' }),
        3,
        'INVALID_TRANSACTION',
      ],
      [() => root.exportWallet({ walletId, targetPublicKey: '04'.repeat(65) }), 3, 'INVALID_PUBLIC_KEY'],
    ];
    for (const [index, [work, code, name]] of cases.entries()) {
      const error = await refusal(work());
      expect([index, error.code, errorCodeOf(error)]).toEqual([index, code, name]);
      expect(error.message).toMatch(new RegExp(`^Turnkey error ${code}: .+ \\(Details: \\[`));
    }
  });
});
