// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {EarnWrapperBase} from "./EarnWrapperBase.sol";

interface IAToken is IERC20Metadata {
    function scaledBalanceOf(address user) external view returns (uint256);
    function UNDERLYING_ASSET_ADDRESS() external view returns (address);
    function POOL() external view returns (address);
}

interface IAavePool {
    function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode) external;
    function withdraw(address asset, uint256 amount, address to) external returns (uint256);
    function getConfiguration(address asset) external view returns (uint256);
    /// @dev What one scaled unit is worth now, times 10^27.
    function getReserveNormalizedIncome(address asset) external view returns (uint256);
    /// @dev From version 3.1 on.
    function getVirtualUnderlyingBalance(address asset) external view returns (uint128);
}

/// @notice The fee wrapper over a reserve of an Aave v3 market, named by its aToken. Its units are scaled balances: what
/// the market counts in, and what does not grow by itself as an aToken's balance does.
/// @dev Earlier versions of the market round scaled amounts to the nearest, later ones against the caller. Previews assume
/// the worse of both, and what is really credited or taken is measured.
contract EarnAaveWrapper is EarnWrapperBase {
    using Math for uint256;

    uint256 private constant RAY = 1e27;

    IAToken private immutable _aToken;
    IAavePool private immutable _pool;

    constructor(address aToken, uint256 totalFeeBps_, address[] memory payees, uint256[] memory shares)
        ERC4626(IERC20(IAToken(aToken).UNDERLYING_ASSET_ADDRESS()))
        EarnWrapperBase(aToken, totalFeeBps_, payees, shares)
    {
        _aToken = IAToken(aToken);
        _pool = IAavePool(IAToken(aToken).POOL());
    }

    function _unitDecimals() internal view override returns (uint8) {
        return _aToken.decimals();
    }

    function totalAssets() public view override returns (uint256) {
        return _aToken.balanceOf(address(this));
    }

    function _units() internal view override returns (uint256) {
        return _aToken.scaledBalanceOf(address(this));
    }

    function _assetsOf(uint256 units) internal view override returns (uint256) {
        return units.mulDiv(_index(), RAY);
    }

    function _unitsWorth(uint256 assets) internal view override returns (uint256) {
        return assets.mulDiv(RAY, _index());
    }

    function _previewEnter(uint256 assets) internal view override returns (uint256) {
        return _unitsWorth(assets);
    }

    function _previewEnterExactly(uint256 units) internal view override returns (uint256) {
        return units.mulDiv(_index(), RAY, Math.Rounding.Ceil);
    }

    function _previewLeave(uint256 units) internal view override returns (uint256) {
        return _assetsOf(units);
    }

    function _previewLeaveWithAssets(uint256 assets) internal view override returns (uint256) {
        return assets.mulDiv(RAY, _index(), Math.Rounding.Ceil);
    }

    /// @dev Not counted is the reserve's supply cap, which changes with every block; the pool refuses what exceeds it.
    function _enterMax() internal view override returns (uint256) {
        uint256 bits = _pool.getConfiguration(asset());
        return _isActive(bits) && !_isFrozen(bits) && !_isPaused(bits) ? type(uint256).max : 0;
    }

    function _leaveMax() internal view override returns (uint256) {
        uint256 bits = _pool.getConfiguration(asset());
        if (!_isActive(bits) || _isPaused(bits)) return 0;
        uint256 idle = IERC20(asset()).balanceOf(address(_aToken));
        try _pool.getVirtualUnderlyingBalance(asset()) returns (uint128 counted) {
            return Math.min(idle, counted);
        } catch {
            return idle;
        }
    }

    function _spender() internal view override returns (address) {
        return address(_pool);
    }

    function _put(uint256 assets) internal override {
        _pool.supply(asset(), assets, address(this), 0);
    }

    function _leave(uint256 units, address receiver) internal override returns (uint256) {
        return _pool.withdraw(asset(), _assetsOf(units), receiver);
    }

    function _leaveWithAssets(uint256 assets, address receiver) internal override {
        // The largest number there is means everything to the pool.
        uint256 paid = _pool.withdraw(asset(), assets, receiver);
        if (paid != assets) revert PaidOtherThanAsked(assets, paid);
    }

    function _index() private view returns (uint256) {
        return _pool.getReserveNormalizedIncome(asset());
    }

    // Bits 56, 57 and 60 of a reserve's configuration.

    function _isActive(uint256 bits) private pure returns (bool) {
        return bits & (1 << 56) != 0;
    }

    function _isFrozen(uint256 bits) private pure returns (bool) {
        return bits & (1 << 57) != 0;
    }

    function _isPaused(uint256 bits) private pure returns (bool) {
        return bits & (1 << 60) != 0;
    }
}
