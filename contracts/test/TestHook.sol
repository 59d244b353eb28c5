// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @dev Lets a test contract turn hostile: it makes one call of the tester's choice when it is itself called.
abstract contract TestHook {
    address private _target;
    bytes private _data;
    bool public hookCalled;
    bool public hookSucceeded;
    bytes public hookAnswer;

    function setHook(address target, bytes calldata data) external {
        _target = target;
        _data = data;
        hookCalled = false;
    }

    function _callHook() internal {
        address target = _target;
        if (target == address(0)) return;
        _target = address(0);
        hookCalled = true;
        (hookSucceeded, hookAnswer) = target.call(_data);
    }
}
