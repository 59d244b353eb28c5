// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20, IERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {EarnSplitter} from "./EarnSplitter.sol";

/// @notice An ERC-4626 vault that keeps everything in one other place and takes a part of the yield as fee. The fee is
/// paid in new shares to a splitter, is fixed for life, and nobody can pause, upgrade or own the wrapper.
/// @dev Shares are claims on *units*: what the place itself counts in (shares of a vault, scaled balance of an aToken).
/// Whatever the place takes at the door (rounding, fees) is thereby borne by who passes it, not by who is inside.
/// The ERC-4626 max* functions answer with what the place reports, and nothing here depends on them: there are vaults
/// that always report zero. A deposit or withdrawal that the place refuses fails with the place's own error.
abstract contract EarnWrapperBase is ERC4626, ReentrancyGuard {
    using Math for uint256;
    using SafeERC20 for IERC20;

    error FeeTooHigh(uint256 feeBps);
    error FeeIsNotTheSumOfShares();
    error AssetTakesFees(uint256 sent, uint256 received);
    error LostOnDeposit(uint256 assets, uint256 credited);
    error NothingMinted();
    error PaidOtherThanAsked(uint256 assets, uint256 paid);

    event FeeAccrued(uint256 interest, uint256 feeShares);
    event LossRecorded(uint256 loss, uint256 lossToRecover);

    uint256 public constant FEE_BPS_MAX = 5_000;
    uint256 private constant BPS = 10_000;
    /// @dev Of a deposit, one part in so many may be lost at the door, and two base units for rounding.
    uint256 private constant DEPOSIT_LOSS_PART_MAX = 1_000;
    uint256 private constant ROUNDING_LOSS_MAX = 2;
    uint8 private constant DECIMALS_OFFSET = 6;
    uint256 private constant VIRTUAL_SHARES = 10 ** DECIMALS_OFFSET;
    /// @dev Of shares that were never worth so many base units together, no loss is remembered: it is known to a base unit
    /// only, and counts per share, so that such an error would count for whatever is deposited later.
    uint256 private constant BEST_TOTAL_MIN = 10_000;
    /// @dev More than any token's supply. No loss is so large that arithmetic keeps somebody in.
    uint256 private constant LOSS_MAX = type(uint128).max;

    /// @notice The vault or the aToken under the wrapper.
    address public immutable vault;
    /// @notice Basis points of the yield, for all payees together.
    uint256 public immutable totalFeeBps;
    /// @notice The splitter.
    address public immutable performanceFeeRecipient;

    /// @notice `totalAssets` when fees were last settled.
    uint256 public lastTotalAssets;
    /// @dev What was lost since the best time so far, and by how many shares together. Kept as this pair, and not as a sum
    /// that follows the supply, so that who comes and goes changes nothing in what a share has lost, not even by rounding.
    uint256 private _loss;
    uint256 private _lossSupply;

    constructor(address vault_, uint256 totalFeeBps_, address[] memory payees, uint256[] memory shares)
        ERC20("Earn Share", "EARN")
    {
        if (totalFeeBps_ > FEE_BPS_MAX) revert FeeTooHigh(totalFeeBps_);
        EarnSplitter splitter = new EarnSplitter(payees, shares);
        if (splitter.totalShares() != totalFeeBps_) revert FeeIsNotTheSumOfShares();
        vault = vault_;
        totalFeeBps = totalFeeBps_;
        performanceFeeRecipient = address(splitter);
    }

    /// @notice Settles the fee on what was earned since the last time.
    function accrue() external nonReentrant {
        _accrue();
    }

    /// @notice The shares that the next accrual will mint to the splitter; every conversion counts them already.
    function pendingFeeShares() public view returns (uint256 feeShares) {
        (, feeShares,) = _pending(totalAssets());
    }

    /// @notice What all shares together have lost since their best time, and regain before a fee is taken again.
    function lossToRecover() public view returns (uint256) {
        if (_loss == 0) return 0;
        uint256 supply = totalSupply();
        if (supply / _lossSupply >= 1 << 127) return LOSS_MAX;
        return Math.min(_loss.mulDiv(supply, _lossSupply, Math.Rounding.Ceil), LOSS_MAX);
    }

    function decimals() public view override returns (uint8) {
        return _unitDecimals() + DECIMALS_OFFSET;
    }

    function totalAssets() public view virtual override returns (uint256) {
        return _assetsOf(_units());
    }

    function deposit(uint256 assets, address receiver) public override nonReentrant returns (uint256 shares) {
        _accrue();
        uint256 held = _units();
        uint256 supply = totalSupply();
        shares = _sharesFor(_enter(assets), held, supply, Math.Rounding.Floor);
        if (shares == 0) revert NothingMinted();
        _finishDeposit(receiver, assets, shares);
    }

    function mint(uint256 shares, address receiver) public override nonReentrant returns (uint256 assets) {
        _accrue();
        if (shares == 0) revert NothingMinted();
        uint256 held = _units();
        uint256 wanted = _unitsFor(shares, held, totalSupply(), Math.Rounding.Ceil);
        assets = _previewEnterExactly(wanted);
        uint256 credited = _enter(assets);
        if (credited < wanted) revert LostOnDeposit(assets, _assetsOf(credited));
        _finishDeposit(receiver, assets, shares);
    }

    function withdraw(uint256 assets, address receiver, address owner)
        public
        override
        nonReentrant
        returns (uint256 shares)
    {
        _accrue();
        uint256 held = _units();
        uint256 supply = totalSupply();
        if (assets > 0) _leaveWithAssets(assets, receiver);
        // Measured, not asked beforehand: the shares pay for what has really gone.
        shares = _sharesFor(held - _units(), held, supply, Math.Rounding.Ceil);
        _burnFrom(owner, shares);
        _finishWithdrawal(receiver, owner, assets, shares);
    }

    function redeem(uint256 shares, address receiver, address owner)
        public
        override
        nonReentrant
        returns (uint256 assets)
    {
        return _redeem(shares, receiver, owner);
    }

    /// @notice Redeems all that the caller holds when the transaction runs.
    function redeemAll(address receiver) external nonReentrant returns (uint256 assets) {
        return _redeem(balanceOf(msg.sender), receiver, msg.sender);
    }

    function convertToShares(uint256 assets) public view override returns (uint256) {
        return _sharesFor(_unitsWorth(assets), Math.Rounding.Floor);
    }

    function convertToAssets(uint256 shares) public view override returns (uint256) {
        return _assetsOf(_unitsFor(shares, Math.Rounding.Floor));
    }

    function previewDeposit(uint256 assets) public view override returns (uint256) {
        return _sharesFor(_previewEnter(assets), Math.Rounding.Floor);
    }

    function previewMint(uint256 shares) public view override returns (uint256) {
        return _previewEnterExactly(_unitsFor(shares, Math.Rounding.Ceil));
    }

    function previewWithdraw(uint256 assets) public view override returns (uint256) {
        return _sharesFor(_previewLeaveWithAssets(assets), Math.Rounding.Ceil);
    }

    function previewRedeem(uint256 shares) public view override returns (uint256) {
        return _previewLeave(_unitsFor(shares, Math.Rounding.Floor));
    }

    function maxDeposit(address) public view override returns (uint256) {
        return _enterMax();
    }

    function maxMint(address) public view override returns (uint256) {
        uint256 assets = _enterMax();
        // Beyond any token's supply the exact number tells nothing, and the arithmetic would overflow.
        return assets > type(uint128).max ? type(uint256).max : previewDeposit(assets);
    }

    function maxWithdraw(address owner) public view override returns (uint256) {
        return Math.min(previewRedeem(balanceOf(owner)), _leaveMax());
    }

    function maxRedeem(address owner) public view override returns (uint256) {
        uint256 assets = _leaveMax();
        uint256 balance = balanceOf(owner);
        if (previewRedeem(balance) <= assets) return balance;
        return Math.min(balance, convertToShares(assets));
    }

    // What the place is asked; all of it in its own units.

    function _unitDecimals() internal view virtual returns (uint8);
    function _units() internal view virtual returns (uint256);
    function _assetsOf(uint256 units) internal view virtual returns (uint256);
    function _unitsWorth(uint256 assets) internal view virtual returns (uint256);
    function _previewEnter(uint256 assets) internal view virtual returns (uint256 units);
    function _previewEnterExactly(uint256 units) internal view virtual returns (uint256 assets);
    function _previewLeave(uint256 units) internal view virtual returns (uint256 assets);
    function _previewLeaveWithAssets(uint256 assets) internal view virtual returns (uint256 units);
    function _enterMax() internal view virtual returns (uint256 assets);
    function _leaveMax() internal view virtual returns (uint256 assets);
    /// @dev The wrapper holds the assets and has approved `_spender()` for exactly them.
    function _put(uint256 assets) internal virtual;
    function _spender() internal view virtual returns (address);
    function _leave(uint256 units, address receiver) internal virtual returns (uint256 assets);
    function _leaveWithAssets(uint256 assets, address receiver) internal virtual;

    function _enter(uint256 assets) private returns (uint256 credited) {
        IERC20 token = IERC20(asset());
        uint256 held = _units();
        uint256 before = token.balanceOf(address(this));
        token.safeTransferFrom(msg.sender, address(this), assets);
        uint256 received = token.balanceOf(address(this)) - before;
        if (received != assets) revert AssetTakesFees(assets, received);
        token.forceApprove(_spender(), assets);
        _put(assets);
        credited = _units() - held;
        // Nobody deposits into a place where somebody has just made one unit dear.
        uint256 worth = _assetsOf(credited);
        if (worth + assets / DEPOSIT_LOSS_PART_MAX + ROUNDING_LOSS_MAX < assets) revert LostOnDeposit(assets, worth);
    }

    function _finishDeposit(address receiver, uint256 assets, uint256 shares) private {
        _mint(receiver, shares);
        lastTotalAssets = totalAssets();
        emit Deposit(msg.sender, receiver, assets, shares);
    }

    function _redeem(uint256 shares, address receiver, address owner) private returns (uint256 assets) {
        _accrue();
        uint256 units = _unitsFor(shares, _units(), totalSupply(), Math.Rounding.Floor);
        _burnFrom(owner, shares);
        // Shares too few for one unit are worth nothing, and can be given up all the same.
        if (units > 0) assets = _leave(units, receiver);
        _finishWithdrawal(receiver, owner, assets, shares);
    }

    function _burnFrom(address owner, uint256 shares) private {
        if (msg.sender != owner) _spendAllowance(owner, msg.sender, shares);
        _burn(owner, shares);
        // Nobody is left who could recover it.
        if (_loss != 0 && totalSupply() == 0) _loss = 0;
    }

    function _finishWithdrawal(address receiver, address owner, uint256 assets, uint256 shares) private {
        lastTotalAssets = totalAssets();
        emit Withdraw(msg.sender, receiver, owner, assets, shares);
    }

    function _accrue() private {
        uint256 total = totalAssets();
        uint256 last = lastTotalAssets;
        if (total == last) return;
        (uint256 interest, uint256 feeShares, uint256 toRecover) = _pending(total);
        lastTotalAssets = total;
        _loss = toRecover;
        if (toRecover != 0) _lossSupply = totalSupply();
        if (total < last) emit LossRecorded(last - total, toRecover);
        if (feeShares == 0) return;
        _mint(performanceFeeRecipient, feeShares);
        emit FeeAccrued(interest, feeShares);
    }

    /// @dev A loss never mints fees, and what makes up for it is free. The fee is computed in shares, which are a million
    /// times finer than units: rounded to whole units it would vanish where little is earned between two deposits.
    function _pending(uint256 total)
        private
        view
        returns (uint256 interest, uint256 feeShares, uint256 toRecover)
    {
        uint256 last = lastTotalAssets;
        toRecover = lossToRecover();
        bool forgets = last + toRecover < BEST_TOTAL_MIN;
        // What is left behind when everybody has gone is nobody's loss.
        if (total < last) {
            bool nobodys = forgets || totalSupply() == 0;
            return (0, 0, nobodys ? 0 : Math.min(toRecover + (last - total), LOSS_MAX));
        }
        if (forgets) toRecover = 0;
        uint256 gain = total - last;
        uint256 recovered = Math.min(gain, toRecover);
        toRecover -= recovered;
        interest = gain - recovered;
        uint256 fee = interest * totalFeeBps;
        feeShares = fee.mulDiv(totalSupply() + VIRTUAL_SHARES, (total + 1) * BPS - fee);
    }

    function _sharesFor(uint256 units, Math.Rounding rounding) private view returns (uint256) {
        return _sharesFor(units, _units(), totalSupply() + pendingFeeShares(), rounding);
    }

    function _unitsFor(uint256 shares, Math.Rounding rounding) private view returns (uint256) {
        return _unitsFor(shares, _units(), totalSupply() + pendingFeeShares(), rounding);
    }

    function _sharesFor(uint256 units, uint256 held, uint256 supply, Math.Rounding rounding)
        private
        pure
        returns (uint256)
    {
        return units.mulDiv(supply + VIRTUAL_SHARES, held + 1, rounding);
    }

    function _unitsFor(uint256 shares, uint256 held, uint256 supply, Math.Rounding rounding)
        private
        pure
        returns (uint256)
    {
        return shares.mulDiv(held + 1, supply + VIRTUAL_SHARES, rounding);
    }
}
