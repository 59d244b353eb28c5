// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1155Receiver} from "@openzeppelin/contracts/token/ERC1155/IERC1155Receiver.sol";
import {IERC721Receiver} from "@openzeppelin/contracts/token/ERC721/IERC721Receiver.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @notice The code that an account borrows by EIP-7702 to make several calls in one transaction. The account's own key
/// stays the only authority: it sends `run` itself, or signs a batch for one other account, which carries it to
/// `runSigned` and pays for it.
/// @dev Everything is kept under `address(this)`, which is the account. Called at its own address the contract can do
/// nothing: no key belongs to that address, so `run` is never reached by it and no signature is its own.
contract CustosBatch is IERC1271, IERC165, IERC721Receiver, IERC1155Receiver {
    struct Call {
        address to;
        uint256 value;
        bytes data;
    }

    /// @dev Namespaced (ERC-7201), since an account may have borrowed other code before and may do so again.
    /// @custom:storage-location erc7201:custos.batch.nonces
    struct Nonces {
        mapping(uint256 word => uint256 bits) used;
    }

    error NotTheAccount();
    error DeadlinePassed(uint256 deadline);
    error NonceAlreadyUsed(uint256 nonce);
    error InvalidSignature();
    error BatchUnderWay();
    error BalanceTooLow(uint256 call, uint256 value);

    event NonceUsed(uint256 indexed nonce);

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant CALL_TYPEHASH = keccak256("Call(address to,uint256 value,bytes data)");
    bytes32 private constant BATCH_TYPEHASH = keccak256(
        "BatchExecution(address carrier,uint256 nonce,uint256 deadline,Call[] calls)Call(address to,uint256 value,bytes data)"
    );
    bytes32 private constant NAME_HASH = keccak256("Custos Batch");
    bytes32 private constant VERSION_HASH = keccak256("1");

    // keccak256(abi.encode(uint256(keccak256("custos.batch.nonces")) - 1)) & ~bytes32(uint256(0xff))
    bytes32 private constant NONCES_SLOT = 0x097dc623d7cb92981c7f072ab81f04978f5fd860e084ee55de7b4edf95bdde00;
    // The same of "custos.batch.lock", in transient storage.
    bytes32 private constant LOCK_SLOT = 0xea19970bb2438327132507e4f53bd9739f11848d2427887880d7da2828a2da00;

    receive() external payable {}

    /// @dev An account without code takes every call, so one that has borrowed this code still does.
    fallback() external payable {}

    /// @notice Makes the calls in their order; the first that fails undoes all of them and hands on its revert data.
    function run(Call[] calldata calls) external payable {
        if (msg.sender != address(this)) revert NotTheAccount();
        uint256 outer = _lock();
        _run(calls);
        _unlock(outer);
    }

    /// @notice The same for a batch which the account has signed for the sender: whoever else sees the signature can do
    /// nothing with it. If a call fails the nonce stays unused, and the same carrier may try again until the deadline;
    /// `invalidateNonce` ends that earlier.
    function runSigned(uint256 nonce, uint256 deadline, Call[] calldata calls, bytes calldata signature) external {
        if (block.timestamp > deadline) revert DeadlinePassed(deadline);
        if (!_isOwn(batchHash(msg.sender, nonce, deadline, calls), signature)) revert InvalidSignature();
        _useNonce(nonce);
        // A callee must not squeeze a second signed batch between two calls of the first.
        if (_lock() != 0) revert BatchUnderWay();
        _run(calls);
        _unlock(0);
    }

    /// @notice Ends a signed batch that was not carried.
    function invalidateNonce(uint256 nonce) external {
        if (msg.sender != address(this)) revert NotTheAccount();
        _useNonce(nonce);
    }

    /// @notice Nonces are used in any order, each once.
    function isNonceUsed(uint256 nonce) public view returns (bool) {
        return _nonces().used[nonce >> 8] & (1 << (nonce & 0xff)) != 0;
    }

    /// @notice What the account signs (EIP-712).
    function batchHash(address carrier, uint256 nonce, uint256 deadline, Call[] calldata calls)
        public
        view
        returns (bytes32)
    {
        bytes32[] memory hashes = new bytes32[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            Call calldata call = calls[i];
            hashes[i] = keccak256(abi.encode(CALL_TYPEHASH, call.to, call.value, keccak256(call.data)));
        }
        bytes32 batch =
            keccak256(abi.encode(BATCH_TYPEHASH, carrier, nonce, deadline, keccak256(abi.encodePacked(hashes))));
        return keccak256(abi.encodePacked(hex"1901", domainSeparator(), batch));
    }

    /// @dev Computed each time: at another account, and after a fork on another chain, it must be another.
    function domainSeparator() public view returns (bytes32) {
        return keccak256(abi.encode(DOMAIN_TYPEHASH, NAME_HASH, VERSION_HASH, block.chainid, address(this)));
    }

    /// @notice Contracts that meet code here ask for a signature this way; it is the account's own, as before.
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        return _isOwn(hash, signature) ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }

    function supportsInterface(bytes4 interfaceId) external pure returns (bool) {
        return interfaceId == type(IERC165).interfaceId || interfaceId == type(IERC1271).interfaceId
            || interfaceId == type(IERC721Receiver).interfaceId || interfaceId == type(IERC1155Receiver).interfaceId;
    }

    function onERC721Received(address, address, uint256, bytes calldata) external pure returns (bytes4) {
        return IERC721Receiver.onERC721Received.selector;
    }

    function onERC1155Received(address, address, uint256, uint256, bytes calldata) external pure returns (bytes4) {
        return IERC1155Receiver.onERC1155Received.selector;
    }

    function onERC1155BatchReceived(address, address, uint256[] calldata, uint256[] calldata, bytes calldata)
        external
        pure
        returns (bytes4)
    {
        return IERC1155Receiver.onERC1155BatchReceived.selector;
    }

    function _run(Call[] calldata calls) private {
        for (uint256 i = 0; i < calls.length; i++) {
            Call calldata call = calls[i];
            if (call.value > address(this).balance) revert BalanceTooLow(i, call.value);
            (bool success, bytes memory answer) = call.to.call{value: call.value}(call.data);
            if (!success) {
                assembly ("memory-safe") {
                    revert(add(answer, 0x20), mload(answer))
                }
            }
        }
    }

    /// @dev 65 bytes with s in the lower half: `tryRecover` refuses other forms, so a signature has one spelling.
    function _isOwn(bytes32 hash, bytes calldata signature) private view returns (bool) {
        (address signer, ECDSA.RecoverError problem,) = ECDSA.tryRecoverCalldata(hash, signature);
        return problem == ECDSA.RecoverError.NoError && signer == address(this);
    }

    function _useNonce(uint256 nonce) private {
        if (isNonceUsed(nonce)) revert NonceAlreadyUsed(nonce);
        _nonces().used[nonce >> 8] |= 1 << (nonce & 0xff);
        emit NonceUsed(nonce);
    }

    function _nonces() private pure returns (Nonces storage nonces) {
        assembly {
            nonces.slot := NONCES_SLOT
        }
    }

    function _lock() private returns (uint256 outer) {
        assembly {
            outer := tload(LOCK_SLOT)
            tstore(LOCK_SLOT, 1)
        }
    }

    function _unlock(uint256 outer) private {
        assembly {
            tstore(LOCK_SLOT, outer)
        }
    }
}
