// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20, IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IMorphoBlue, MarketParams} from "./IMorphoBlue.sol";
import {MorphoReads} from "./MorphoReads.sol";

/// @dev A vault with the views of a Morpho Vault V2, whose sources are not on npm: it holds idle assets, puts others out
/// through adapters, grows by `maxRate` at most, and answers zero to every max* function. Everybody may set it up.
contract TestVaultV2 is ERC4626 {
    using Math for uint256;

    uint256 private constant WAD = 1e18;

    address public immutable owner;
    address public curator;
    address[] public adapters;
    address public liquidityAdapter;
    bytes public liquidityData;
    uint96 public performanceFee;
    address public performanceFeeRecipient;
    uint96 public managementFee;
    address public managementFeeRecipient;
    uint64 public maxRate = uint64(uint256(2e18) / 365 days);
    uint64 public lastUpdate;
    uint128 public _totalAssets;
    address public receiveSharesGate;
    address public sendSharesGate;
    address public receiveAssetsGate;
    address public sendAssetsGate;
    mapping(bytes4 selector => bool) public abdicated;
    string private _name = "";
    string private _symbol = "";

    constructor(address owner_, IERC20 asset_) ERC20("", "") ERC4626(asset_) {
        owner = owner_;
        lastUpdate = uint64(block.timestamp);
    }

    function setUp(string calldata name_, string calldata symbol_, address curator_) external {
        _name = name_;
        _symbol = symbol_;
        curator = curator_;
    }

    function setPerformanceFee(uint96 fee, address recipient) external {
        accrueInterest();
        performanceFee = fee;
        performanceFeeRecipient = recipient;
    }

    function setMaxRate(uint64 rate) external {
        accrueInterest();
        maxRate = rate;
    }

    function addAdapter(address adapter) external {
        adapters.push(adapter);
    }

    function setLiquidityAdapterAndData(address adapter, bytes calldata data) external {
        liquidityAdapter = adapter;
        liquidityData = data;
    }

    function allocate(address adapter, bytes calldata data, uint256 assets) external {
        _allocate(adapter, data, assets);
    }

    function name() public view override(ERC20, IERC20Metadata) returns (string memory) {
        return _name;
    }

    function symbol() public view override(ERC20, IERC20Metadata) returns (string memory) {
        return _symbol;
    }

    function adaptersLength() external view returns (uint256) {
        return adapters.length;
    }

    function accrueInterest() public {
        (uint256 total, uint256 performanceShares,) = accrueInterestView();
        _totalAssets = uint128(total);
        lastUpdate = uint64(block.timestamp);
        if (performanceShares > 0) _mint(performanceFeeRecipient, performanceShares);
    }

    function accrueInterestView()
        public
        view
        returns (uint256 total, uint256 performanceShares, uint256 managementShares)
    {
        uint256 elapsed = block.timestamp - lastUpdate;
        if (elapsed == 0) return (_totalAssets, 0, 0);
        uint256 real = IERC20(asset()).balanceOf(address(this));
        for (uint256 i = 0; i < adapters.length; i++) {
            real += TestMarketAdapter(adapters[i]).realAssets();
        }
        total = Math.min(real, _totalAssets + uint256(_totalAssets).mulDiv(elapsed * maxRate, WAD));
        if (performanceFee > 0 && total > _totalAssets) {
            uint256 fee = (total - _totalAssets).mulDiv(performanceFee, WAD);
            performanceShares = fee.mulDiv(totalSupply() + virtualShares(), total - fee + 1);
        }
        managementShares = 0;
    }

    function virtualShares() public view returns (uint256) {
        return 10 ** _decimalsOffset();
    }

    function totalAssets() public view override returns (uint256 total) {
        (total,,) = accrueInterestView();
    }

    function maxDeposit(address) public pure override returns (uint256) {
        return 0;
    }

    function maxMint(address) public pure override returns (uint256) {
        return 0;
    }

    function maxWithdraw(address) public pure override returns (uint256) {
        return 0;
    }

    function maxRedeem(address) public pure override returns (uint256) {
        return 0;
    }

    function deposit(uint256 assets, address receiver) public override returns (uint256 shares) {
        accrueInterest();
        shares = previewDeposit(assets);
        _deposit(msg.sender, receiver, assets, shares);
    }

    function mint(uint256 shares, address receiver) public override returns (uint256 assets) {
        accrueInterest();
        assets = previewMint(shares);
        _deposit(msg.sender, receiver, assets, shares);
    }

    function withdraw(uint256 assets, address receiver, address account) public override returns (uint256 shares) {
        accrueInterest();
        shares = previewWithdraw(assets);
        _withdraw(msg.sender, receiver, account, assets, shares);
    }

    function redeem(uint256 shares, address receiver, address account) public override returns (uint256 assets) {
        accrueInterest();
        assets = previewRedeem(shares);
        _withdraw(msg.sender, receiver, account, assets, shares);
    }

    function _decimalsOffset() internal view override returns (uint8) {
        return 18 - IERC20Metadata(asset()).decimals();
    }

    function _convertToShares(uint256 assets, Math.Rounding rounding) internal view override returns (uint256) {
        (uint256 total, uint256 feeShares,) = accrueInterestView();
        return assets.mulDiv(totalSupply() + feeShares + virtualShares(), total + 1, rounding);
    }

    function _convertToAssets(uint256 shares, Math.Rounding rounding) internal view override returns (uint256) {
        (uint256 total, uint256 feeShares,) = accrueInterestView();
        return shares.mulDiv(total + 1, totalSupply() + feeShares + virtualShares(), rounding);
    }

    function _transferIn(address from, uint256 assets) internal override {
        super._transferIn(from, assets);
        _totalAssets += uint128(assets);
        if (liquidityAdapter != address(0)) _allocate(liquidityAdapter, liquidityData, assets);
    }

    function _transferOut(address to, uint256 assets) internal override {
        uint256 idle = IERC20(asset()).balanceOf(address(this));
        if (assets > idle) TestMarketAdapter(liquidityAdapter).deallocate(liquidityData, assets - idle);
        _totalAssets -= uint128(assets);
        super._transferOut(to, assets);
    }

    function _allocate(address adapter, bytes memory data, uint256 assets) private {
        require(IERC20(asset()).transfer(adapter, assets));
        TestMarketAdapter(adapter).allocate(data, assets);
    }
}

/// @dev Between a vault V2 and markets of Morpho Blue; the data of a call is the market's parameters.
contract TestMarketAdapter {
    using MorphoReads for IMorphoBlue;

    address public immutable parentVault;
    address public immutable asset;
    IMorphoBlue public immutable morpho;
    bytes32[] public marketIds;
    mapping(bytes32 id => bool) private _isKnown;

    constructor(TestVaultV2 vault, IMorphoBlue morpho_) {
        parentVault = address(vault);
        asset = vault.asset();
        morpho = morpho_;
        IERC20(asset).approve(address(morpho_), type(uint256).max);
    }

    function allocate(bytes calldata data, uint256 assets) external {
        require(msg.sender == parentVault);
        bytes32 id = keccak256(data);
        if (!_isKnown[id]) marketIds.push(id);
        _isKnown[id] = true;
        morpho.supply(abi.decode(data, (MarketParams)), assets, 0, address(this), "");
    }

    function deallocate(bytes calldata data, uint256 assets) external {
        require(msg.sender == parentVault);
        morpho.withdraw(abi.decode(data, (MarketParams)), assets, 0, address(this), parentVault);
    }

    function marketIdsLength() external view returns (uint256) {
        return marketIds.length;
    }

    function supplyShares(bytes32 id) public view returns (uint256 shares) {
        (shares,,) = morpho.position(id, address(this));
    }

    function expectedSupplyAssets(bytes32 id) public view returns (uint256) {
        return morpho.supplyOf(id, address(this));
    }

    function realAssets() external view returns (uint256 assets) {
        for (uint256 i = 0; i < marketIds.length; i++) {
            assets += expectedSupplyAssets(marketIds[i]);
        }
    }
}

contract TestVaultV2Factory {
    event CreateVaultV2(address indexed owner, address indexed asset, bytes32 salt, address indexed newVaultV2);

    mapping(address vault => bool) public isVaultV2;

    function createVaultV2(address owner, address asset, bytes32 salt) external returns (TestVaultV2 vault) {
        vault = new TestVaultV2{salt: salt}(owner, IERC20(asset));
        isVaultV2[address(vault)] = true;
        emit CreateVaultV2(owner, asset, salt, address(vault));
    }
}
