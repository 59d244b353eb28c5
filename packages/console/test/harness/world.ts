// An organization as a small company would have it: three root users, a program that pays, wallets on a local chain,
// policies, a webhook, a sub-organization. All of it is made through the API of a service started as users start it.
import { encodeFunctionData, erc20Abi, type Hex, parseEther, parseUnits, serializeTransaction } from 'viem';
import { type Anvil, startAnvil } from '../../../../compat/chain/anvil.ts';
import { testArtifact } from '../../../../compat/chain/artifacts.ts';
import { type ChainClient, connectTo, type Deployed, fundedAccount } from '../../../../compat/chain/deploy.ts';
import { createSubOrganization, createUser, TestClient } from '../../../server/test/harness/client.ts';
import { TestServer } from '../../../server/test/harness/server.ts';
import { type Hook, WebhookReceiver } from '../../../server/test/harness/webhook-receiver.ts';

/** The chain calls itself Ethereum, so that pages read as they do in earnest. */
export const CAIP2 = 'eip155:1';

const ETHEREUM = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};
const SOLANA = {
  curve: 'CURVE_ED25519',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/501'/0'/0'",
  addressFormat: 'ADDRESS_FORMAT_SOLANA',
};
const BITCOIN = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/86'/0'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR',
};

export interface Wallet {
  readonly walletId: string;
  readonly address: Hex;
}

export interface World extends AsyncDisposable {
  readonly service: TestServer;
  readonly anvil: Anvil;
  readonly chain: ChainClient;
  readonly usdc: Deployed;
  /** Root users: any two of them can do everything. */
  readonly ada: TestClient;
  readonly grace: TestClient;
  readonly tomas: TestClient;
  /** Tagged Ops, and a program. */
  readonly mei: TestClient;
  readonly bot: TestClient;
  readonly treasury: Wallet;
  readonly payroll: Wallet;
  readonly hook: Hook;
  readonly endpointId: string;
  /** Somebody who is paid. */
  readonly supplier: Hex;
  /** The parameters of sign_transaction for a transfer of USDC. */
  payment(from: Wallet, to: Hex, amount: string): Record<string, unknown>;
  /** The parameters of eth_send_transaction. */
  send(from: Wallet, to: Hex, ether: string): Record<string, unknown>;
}

export async function makeWorld(): Promise<World> {
  const [anvil, receiver] = await Promise.all([startAnvil({ chainId: 1 }), WebhookReceiver.start()]);
  const chain = connectTo(anvil);
  const usdc = await chain.deploy(testArtifact('TestToken'), ['USD Coin', 'USDC', 6]);
  const chains = {
    [CAIP2]: {
      rpcUrls: [anvil.url],
      pollMs: 100,
      assets: [{ caip19: `${CAIP2}/erc20:${usdc.address}`, symbol: 'USDC', name: 'USD Coin', decimals: 6 }],
      prices: { [`${CAIP2}/erc20:${usdc.address}`]: '1.00', [`${CAIP2}/slip44:60`]: '2500' },
    },
  };
  const service = await TestServer.start({
    env: { CUSTOS_CHAINS: JSON.stringify(chains), CUSTOS_OUTBOUND_ALLOW: '127.0.0.0/8', CUSTOS_LOG_LEVEL: 'warn' },
  });
  const root = TestClient.root(service.credentials, service.baseUrl);
  await root.run('update_organization_name', { organizationName: 'Meridian Labs' });
  await root.run('update_user_name', { userId: root.userId, userName: 'Ada Okafor' });

  const tag = async (userTagName: string): Promise<string> =>
    (await root.run('create_user_tag', { userTagName, userIds: [] })).userTagId;
  const [ops, officers, agents] = [await tag('Ops'), await tag('Officers'), await tag('Agents')];
  const grace = await createUser(root, 'Grace Lindqvist', {
    userEmail: 'grace@meridian.example',
    userTags: [officers],
  });
  const tomas = await createUser(root, 'Tomás Rivera', { userEmail: 'tomas@meridian.example', userTags: [officers] });
  const mei = await createUser(root, 'Mei Tanaka', { userEmail: 'mei@meridian.example', userTags: [ops] });
  const bot = await createUser(root, 'Payout bot', { userTags: [agents] });

  const wallet = async (walletName: string, accounts: readonly unknown[]): Promise<Wallet> => {
    const { walletId, addresses } = await root.run('create_wallet', { walletName, accounts });
    await anvil.setBalance(addresses[0], parseEther('18.402117'));
    await chain.write(fundedAccount(0), usdc, 'mint', [addresses[0], parseUnits('248120.55', 6)]);
    return { walletId, address: addresses[0] };
  };
  const treasury = await wallet('Treasury', [ETHEREUM, SOLANA, BITCOIN]);
  const payroll = await wallet('Payroll', [ETHEREUM]);

  await root.run('create_smart_contract_interface', {
    smartContractAddress: usdc.address,
    smartContractInterface: JSON.stringify(erc20Abi),
    type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
    label: 'USDC',
  });
  const policy = async (policyName: string, rule: Record<string, unknown>): Promise<string> =>
    (await root.run('create_policy', { policyName, effect: 'EFFECT_ALLOW', notes: '', ...rule })).policyId;
  const isPayment = `activity.kind == 'SIGN_TRANSACTION' && eth.tx.chain_id == 1 && eth.tx.to == '${usdc.address}' && eth.tx.value == 0 && eth.tx.function_name == 'transfer'`;
  await policy('Ops pay suppliers', {
    condition: `${isPayment} && wallet.id == '${payroll.walletId}' && eth.tx.contract_call_args['amount'] <= 1000000000`,
    consensus: `approvers.any(user, user.tags.contains('${ops}'))`,
  });
  await policy('Payouts need an officer', {
    condition: `${isPayment} && wallet.id == '${treasury.walletId}'`,
    consensus: `approvers.any(user, user.id == '${bot.userId}') && approvers.any(user, user.tags.contains('${officers}'))`,
  });
  await policy('Ops send with an officer', {
    condition: `activity.kind == 'ETH_SEND_TRANSACTION' && wallet.id == '${treasury.walletId}'`,
    consensus: `approvers.any(user, user.tags.contains('${ops}')) && approvers.any(user, user.tags.contains('${officers}'))`,
  });
  await policy('Programs leave credentials alone', {
    effect: 'EFFECT_DENY',
    condition: "activity.resource == 'CREDENTIAL'",
    consensus: `approvers.any(user, user.tags.contains('${agents}'))`,
  });

  const hook = receiver.hook();
  const { endpointId } = await root.run('create_webhook_endpoint', {
    url: hook.url,
    name: 'Ledger',
    subscriptions: [{ eventType: 'ACTIVITY_UPDATES', isActive: true }],
  });
  await createSubOrganization(root, 'Northwind customers');
  await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, grace.userId, tomas.userId] });

  let nonce = 0;
  return {
    service,
    anvil,
    chain,
    usdc,
    ada: root,
    grace,
    tomas,
    mei,
    bot,
    treasury,
    payroll,
    hook,
    endpointId,
    supplier: '0x7A9c31E0b2D54fF6a8C3d9017E5B6c2A48d841Fe'.toLowerCase() as Hex,
    payment({ address }, to, amount) {
      nonce += 1;
      return {
        signWith: address,
        type: 'TRANSACTION_TYPE_ETHEREUM',
        unsignedTransaction: serializeTransaction({
          type: 'eip1559',
          chainId: 1,
          nonce,
          to: usdc.address,
          gas: 65_000n,
          maxFeePerGas: 20_000_000_000n,
          maxPriorityFeePerGas: 1_000_000_000n,
          data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, parseUnits(amount, 6)] }),
        }),
      };
    },
    send: ({ address }, to, ether) => ({
      caip2: CAIP2,
      from: address,
      calls: [{ to, value: String(parseEther(ether)) }],
    }),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await receiver.close();
      await anvil.stop();
    },
  };
}
