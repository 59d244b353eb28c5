// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20, IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IMorphoBlue, MarketParams} from "./IMorphoBlue.sol";
import {MorphoReads} from "./MorphoReads.sol";

/// @dev A vault over markets of Morpho Blue with the views of a Morpho Vault V1, whose sources are not on npm. Its roles
/// have no power over it; everybody may set it up.
contract TestMetaMorpho is ERC4626 {
    using Math for uint256;
    using MorphoReads for IMorphoBlue;

    struct MarketConfig {
        uint184 cap;
        bool enabled;
        uint64 removableAt;
    }

    IMorphoBlue public immutable MORPHO;
    address public immutable owner;
    address public curator;
    address public guardian;
    uint96 public fee;
    address public feeRecipient;
    uint256 public lastTotalAssets;
    bytes32[] public supplyQueue;
    bytes32[] public withdrawQueue;
    mapping(bytes32 id => MarketConfig) public config;

    constructor(IMorphoBlue morpho, address owner_, IERC20 asset_, string memory name_, string memory symbol_)
        ERC20(name_, symbol_)
        ERC4626(asset_)
    {
        MORPHO = morpho;
        owner = owner_;
        asset_.approve(address(morpho), type(uint256).max);
    }

    function addMarket(bytes32 id) external {
        config[id] = MarketConfig({cap: type(uint184).max, enabled: true, removableAt: 0});
        supplyQueue.push(id);
        withdrawQueue.push(id);
    }

    function setCurator(address curator_) external {
        curator = curator_;
    }

    function setFee(uint96 fee_, address recipient) external {
        _accrueFee();
        fee = fee_;
        feeRecipient = recipient;
    }

    /// @dev From the first market of the queue into another.
    function move(uint256 assets, bytes32 to) external {
        MORPHO.withdraw(MORPHO.idToMarketParams(supplyQueue[0]), assets, 0, address(this), address(this));
        MORPHO.supply(MORPHO.idToMarketParams(to), assets, 0, address(this), "");
    }

    function supplyQueueLength() external view returns (uint256) {
        return supplyQueue.length;
    }

    function withdrawQueueLength() external view returns (uint256) {
        return withdrawQueue.length;
    }

    function totalAssets() public view override returns (uint256 total) {
        for (uint256 i = 0; i < withdrawQueue.length; i++) {
            total += MORPHO.supplyOf(withdrawQueue[i], address(this));
        }
    }

    function maxWithdraw(address account) public view override returns (uint256) {
        uint256 available = 0;
        for (uint256 i = 0; i < withdrawQueue.length; i++) {
            available += MORPHO.availableTo(withdrawQueue[i], address(this));
        }
        return Math.min(previewRedeem(balanceOf(account)), available);
    }

    function maxRedeem(address account) public view override returns (uint256) {
        uint256 assets = maxWithdraw(account);
        return assets == previewRedeem(balanceOf(account)) ? balanceOf(account) : convertToShares(assets);
    }

    function _decimalsOffset() internal view override returns (uint8) {
        return 18 - IERC20Metadata(asset()).decimals();
    }

    function _convertToShares(uint256 assets, Math.Rounding rounding) internal view override returns (uint256) {
        (uint256 total, uint256 feeShares) = _pending();
        return assets.mulDiv(totalSupply() + feeShares + 10 ** _decimalsOffset(), total + 1, rounding);
    }

    function _convertToAssets(uint256 shares, Math.Rounding rounding) internal view override returns (uint256) {
        (uint256 total, uint256 feeShares) = _pending();
        return shares.mulDiv(total + 1, totalSupply() + feeShares + 10 ** _decimalsOffset(), rounding);
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal override {
        _accrueFee();
        super._deposit(caller, receiver, assets, shares);
        MORPHO.supply(MORPHO.idToMarketParams(supplyQueue[0]), assets, 0, address(this), "");
        lastTotalAssets = totalAssets();
    }

    function _withdraw(address caller, address receiver, address account, uint256 assets, uint256 shares)
        internal
        override
    {
        _accrueFee();
        uint256 left = assets;
        for (uint256 i = 0; i < withdrawQueue.length && left > 0; i++) {
            uint256 part = Math.min(left, MORPHO.availableTo(withdrawQueue[i], address(this)));
            MarketParams memory params = MORPHO.idToMarketParams(withdrawQueue[i]);
            if (part > 0) MORPHO.withdraw(params, part, 0, address(this), address(this));
            left -= part;
        }
        super._withdraw(caller, receiver, account, assets, shares);
        lastTotalAssets = totalAssets();
    }

    function _accrueFee() private {
        (uint256 total, uint256 feeShares) = _pending();
        lastTotalAssets = total;
        if (feeShares > 0) _mint(feeRecipient, feeShares);
    }

    function _pending() private view returns (uint256 total, uint256 feeShares) {
        total = totalAssets();
        if (fee == 0 || total <= lastTotalAssets) return (total, 0);
        uint256 feeAssets = (total - lastTotalAssets).mulDiv(fee, 1e18);
        feeShares = feeAssets.mulDiv(totalSupply() + 10 ** _decimalsOffset(), total - feeAssets + 1);
    }
}

contract TestMetaMorphoFactory {
    event CreateMetaMorpho(
        address indexed metaMorpho,
        address indexed caller,
        address initialOwner,
        uint256 initialTimelock,
        address indexed asset,
        string name,
        string symbol,
        bytes32 salt
    );

    IMorphoBlue public immutable MORPHO;
    mapping(address vault => bool) public isMetaMorpho;

    constructor(IMorphoBlue morpho) {
        MORPHO = morpho;
    }

    function createMetaMorpho(
        address initialOwner,
        uint256 initialTimelock,
        address asset,
        string memory name,
        string memory symbol,
        bytes32 salt
    ) external returns (TestMetaMorpho vault) {
        vault = new TestMetaMorpho{salt: salt}(MORPHO, initialOwner, IERC20(asset), name, symbol);
        isMetaMorpho[address(vault)] = true;
        emit CreateMetaMorpho(address(vault), msg.sender, initialOwner, initialTimelock, asset, name, symbol, salt);
    }
}
