// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";

/// @dev What the splitter needs of the wrapper that made it.
interface IFeeSource {
    function pendingFeeShares() external view returns (uint256);
    function redeem(uint256 shares, address receiver, address owner) external returns (uint256 assets);
    function accrue() external;
}

/// @notice Holds the fee shares of one wrapper and divides them between payees that are fixed for life.
/// @dev Made by the wrapper's constructor. What a payee holds elsewhere, deposits of its own among it, is never touched.
contract EarnSplitter is ReentrancyGuard {
    using SafeERC20 for IERC20;

    error InvalidPayees();
    error NotThePayee();
    error NothingToRelease();

    event Released(address indexed token, address indexed payee, address to, uint256 amount);
    event AssetsReleased(address indexed payee, address to, uint256 shares, uint256 assets);

    IFeeSource public immutable wrapper;
    uint256 public immutable totalShares;
    mapping(address account => uint256) public shares;
    mapping(address token => uint256) public totalReleased;
    mapping(address token => mapping(address account => uint256)) public released;
    address[] private _payees;

    /// @param weights of the payees in their order; a payee that is named twice has the sum.
    constructor(address[] memory payees_, uint256[] memory weights) {
        if (payees_.length == 0 || payees_.length != weights.length) revert InvalidPayees();
        uint256 total = 0;
        for (uint256 i = 0; i < payees_.length; i++) {
            if (payees_[i] == address(0)) revert InvalidPayees();
            shares[payees_[i]] += weights[i];
            total += weights[i];
        }
        wrapper = IFeeSource(msg.sender);
        totalShares = total;
        _payees = payees_;
    }

    function payees() external view returns (address[] memory) {
        return _payees;
    }

    /// @notice What the account can take of a token. Of the wrapper's shares it includes what the next accrual will mint.
    function releasable(address token, address account) public view returns (uint256) {
        if (totalShares == 0) return 0;
        uint256 received = IERC20(token).balanceOf(address(this)) + totalReleased[token];
        if (token == address(wrapper)) received += wrapper.pendingFeeShares();
        return Math.mulDiv(received, shares[account], totalShares) - released[token][account];
    }

    /// @notice Pays a payee's part of the fees in the underlying asset: one call, and the shares are gone.
    function releaseAssets(address payee, address to) external nonReentrant returns (uint256 assets) {
        if (msg.sender != payee) revert NotThePayee();
        wrapper.accrue();
        uint256 amount = _take(address(wrapper), payee);
        assets = wrapper.redeem(amount, to, address(this));
        if (assets == 0) revert NothingToRelease();
        emit AssetsReleased(payee, to, amount, assets);
    }

    /// @notice Pays a payee's part of a token as it is: of others that were sent here, or of the shares themselves.
    function release(address token, address payee, address to) external nonReentrant returns (uint256 amount) {
        if (msg.sender != payee) revert NotThePayee();
        wrapper.accrue();
        amount = _take(token, payee);
        IERC20(token).safeTransfer(to, amount);
        emit Released(token, payee, to, amount);
    }

    /// @dev Booked before anything leaves.
    function _take(address token, address payee) private returns (uint256 amount) {
        amount = releasable(token, payee);
        if (amount == 0) revert NothingToRelease();
        released[token][payee] += amount;
        totalReleased[token] += amount;
    }
}
