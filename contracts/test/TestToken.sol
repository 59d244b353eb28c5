// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {TestHook} from "./TestHook.sol";

/// @dev A token that everybody may mint. It can take a fee on transfers, and call out in the middle of them.
contract TestToken is ERC20, TestHook {
    uint8 private immutable _decimals;
    uint256 public transferFeeBps;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) ERC20(name_, symbol_) {
        _decimals = decimals_;
    }

    function decimals() public view override returns (uint8) {
        return _decimals;
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function burn(address from, uint256 amount) external {
        _burn(from, amount);
    }

    function setTransferFee(uint256 bps) external {
        transferFeeBps = bps;
    }

    function approveFor(address spender, uint256 amount) external {
        _approve(address(this), spender, amount);
    }

    function _update(address from, address to, uint256 amount) internal override {
        if (from == address(0) || to == address(0)) return super._update(from, to, amount);
        _callHook();
        uint256 fee = amount * transferFeeBps / 10_000;
        if (fee > 0) super._update(from, address(0), fee);
        super._update(from, to, amount - fee);
    }
}
