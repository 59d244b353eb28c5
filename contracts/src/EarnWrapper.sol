// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC4626} from "@openzeppelin/contracts/interfaces/IERC4626.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {EarnWrapperBase} from "./EarnWrapperBase.sol";

/// @notice The fee wrapper over any ERC-4626 vault. Its units are the vault's shares.
contract EarnWrapper is EarnWrapperBase {
    IERC4626 private immutable _vault;

    constructor(address vault_, uint256 totalFeeBps_, address[] memory payees, uint256[] memory shares)
        ERC4626(IERC20(IERC4626(vault_).asset()))
        EarnWrapperBase(vault_, totalFeeBps_, payees, shares)
    {
        _vault = IERC4626(vault_);
    }

    function _unitDecimals() internal view override returns (uint8) {
        return _vault.decimals();
    }

    function _units() internal view override returns (uint256) {
        return _vault.balanceOf(address(this));
    }

    function _assetsOf(uint256 units) internal view override returns (uint256) {
        return _vault.convertToAssets(units);
    }

    function _unitsWorth(uint256 assets) internal view override returns (uint256) {
        return _vault.convertToShares(assets);
    }

    function _previewEnter(uint256 assets) internal view override returns (uint256) {
        return _vault.previewDeposit(assets);
    }

    function _previewEnterExactly(uint256 units) internal view override returns (uint256) {
        return _vault.previewMint(units);
    }

    function _previewLeave(uint256 units) internal view override returns (uint256) {
        return _vault.previewRedeem(units);
    }

    function _previewLeaveWithAssets(uint256 assets) internal view override returns (uint256) {
        return _vault.previewWithdraw(assets);
    }

    function _enterMax() internal view override returns (uint256) {
        return _vault.maxDeposit(address(this));
    }

    function _leaveMax() internal view override returns (uint256) {
        return _vault.maxWithdraw(address(this));
    }

    function _spender() internal view override returns (address) {
        return address(_vault);
    }

    function _put(uint256 assets) internal override {
        _vault.deposit(assets, address(this));
    }

    function _leave(uint256 units, address receiver) internal override returns (uint256) {
        return _vault.redeem(units, receiver, address(this));
    }

    function _leaveWithAssets(uint256 assets, address receiver) internal override {
        _vault.withdraw(assets, receiver, address(this));
    }
}
