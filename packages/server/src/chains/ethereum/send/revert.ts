import { type Abi, decodeErrorResult, parseAbi } from 'viem';
import { once } from '../../../lib/once.ts';
import type { ReadStores } from '../../../storage/stores.ts';
import type { CallRefusal, Hex } from '../../nodes/node.ts';
import type { RevertEntry, Send, SendError } from '../../send/model.ts';
import { ContractInterfaces } from '../../send/sends.ts';

const TEXT_MAX = 1000;

/** ERC-6093, ERC-4626 of OpenZeppelin and our own contracts: what calls of wallets run into most. */
const commonErrors = once(() =>
  parseAbi([
    'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
    'error ERC20InvalidSender(address sender)',
    'error ERC20InvalidReceiver(address receiver)',
    'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
    'error ERC20InvalidApprover(address approver)',
    'error ERC20InvalidSpender(address spender)',
    'error ERC721NonexistentToken(uint256 tokenId)',
    'error ERC721IncorrectOwner(address sender, uint256 tokenId, address owner)',
    'error ERC721InsufficientApproval(address operator, uint256 tokenId)',
    'error ERC4626ExceededMaxDeposit(address receiver, uint256 assets, uint256 max)',
    'error ERC4626ExceededMaxMint(address receiver, uint256 shares, uint256 max)',
    'error ERC4626ExceededMaxWithdraw(address owner, uint256 assets, uint256 max)',
    'error ERC4626ExceededMaxRedeem(address owner, uint256 shares, uint256 max)',
    'error SafeERC20FailedOperation(address token)',
    'error OwnableUnauthorizedAccount(address account)',
    'error EnforcedPause()',
    'error ReentrancyGuardReentrantCall()',
  ]),
);

/** What a contract reverted with, by the interfaces that the organization has uploaded (protocol/sends 3.3). */
async function decodeRevert(
  read: ReadStores,
  send: Send,
  to: string | undefined,
  data: Hex | undefined,
): Promise<RevertEntry[]> {
  if (data === undefined || data === '0x') return [];
  const abis = await interfacesOf(read, send);
  return [{ ...(to !== undefined && { address: to }), ...readError(data, [...abis, commonErrors()]) }];
}

/** Why a node would not run a call, in the contract's words where it has any. */
export async function refusalError(
  read: ReadStores,
  send: Send,
  to: string | undefined,
  { message, data }: CallRefusal,
): Promise<SendError> {
  const revertChain = await decodeRevert(read, send, to, data);
  const text = revertChain[0]?.displayMessage;
  return {
    message: text === undefined ? message : `execution reverted: ${text}`,
    ...(revertChain.length > 0 && { eth: { revertChain } }),
  };
}

export function readError(data: Hex, abis: readonly Abi[]): RevertEntry {
  for (const abi of [[] as unknown as Abi, ...abis]) {
    try {
      // Without an interface it knows the two errors of the language itself.
      const { errorName, args, abiItem } = decodeErrorResult({ abi, data });
      if (errorName === 'Error') return native('error', String(args?.[0] ?? ''));
      if (errorName === 'Panic')
        return native('panic', PANICS[String(args?.[0])] ?? 'panic', `0x${BigInt(args?.[0] as bigint).toString(16)}`);
      const inputs = 'inputs' in abiItem ? abiItem.inputs : [];
      const named = Object.fromEntries(
        inputs.map((input, index) => [input.name || `arg${index}`, (args as readonly unknown[])[index]]),
      );
      const paramsJson = bounded(
        JSON.stringify(named, (_key, value) => (typeof value === 'bigint' ? String(value) : value)),
      );
      return {
        errorType: 'custom',
        displayMessage: bounded(`${errorName}${paramsJson}`),
        custom: { errorName, paramsJson },
      };
    } catch {
      // Not one of this interface.
    }
  }
  const selector = data.slice(0, 10);
  return {
    errorType: 'unknown',
    displayMessage: `reverted with ${selector}, which no uploaded interface knows`,
    unknown: { selector, data: bounded(data) },
  };
}

const native = (nativeType: string, text: string, panicCode?: string): RevertEntry => ({
  errorType: 'native',
  displayMessage: bounded(text),
  native: { nativeType, message: bounded(text), ...(panicCode !== undefined && { panicCode }) },
});

const bounded = (text: string): string => text.slice(0, TEXT_MAX);

const PANICS: Readonly<Record<string, string>> = {
  '1': 'assertion failed',
  '17': 'arithmetic overflow or underflow',
  '18': 'division by zero',
  '33': 'value outside an enumeration',
  '34': 'badly encoded storage bytes',
  '49': 'pop from an empty array',
  '50': 'index out of bounds',
  '65': 'too much memory',
  '81': 'call of an uninitialised function',
};

async function interfacesOf(read: ReadStores, { organizationId, request }: Send): Promise<Abi[]> {
  if (request.kind !== 'ethereum') return [];
  const addresses = [...new Set(request.calls.map(({ to }) => to))];
  const found = await read(ContractInterfaces).ofAddresses(
    organizationId,
    'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
    addresses,
  );
  return found.map(({ definition }) => (JSON.parse(definition) as Abi).filter((item) => item.type === 'error'));
}
