// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {TestHook} from "./TestHook.sol";
import {TestToken} from "./TestToken.sol";

/// @dev A plain vault: what is minted to it is yield. It can keep a fee at the door, run short of liquidity and call out.
contract TestVault is ERC4626, TestHook {
    error Illiquid(uint256 wanted, uint256 liquidity);

    uint256 public liquidity = type(uint256).max;
    uint256 public entryFeeBps;

    constructor(IERC20 asset_) ERC20("Test Vault", "TV") ERC4626(asset_) {}

    function setLiquidity(uint256 assets) external {
        liquidity = assets;
    }

    function setEntryFee(uint256 bps) external {
        entryFeeBps = bps;
    }

    function lose(uint256 assets) external {
        TestToken(asset()).burn(address(this), assets);
    }

    function previewDeposit(uint256 assets) public view override returns (uint256) {
        return super.previewDeposit(assets - assets * entryFeeBps / 10_000);
    }

    function maxWithdraw(address owner) public view override returns (uint256) {
        return Math.min(super.maxWithdraw(owner), liquidity);
    }

    function maxRedeem(address owner) public view override returns (uint256) {
        return Math.min(super.maxRedeem(owner), liquidity == type(uint256).max ? liquidity : convertToShares(liquidity));
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal override {
        _callHook();
        super._deposit(caller, receiver, assets, shares);
        _callHook();
    }

    function _withdraw(address caller, address receiver, address owner, uint256 assets, uint256 shares)
        internal
        override
    {
        _callHook();
        if (assets > liquidity) revert Illiquid(assets, liquidity);
        super._withdraw(caller, receiver, owner, assets, shares);
    }
}
