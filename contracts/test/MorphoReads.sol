// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IInterestRateModel, IMorphoBlue, Market, MarketParams} from "./IMorphoBlue.sol";

/// @dev A market as it will be once its interest is booked, which happens only with its next transaction.
library MorphoReads {
    using Math for uint256;

    uint256 private constant WAD = 1e18;
    uint256 private constant VIRTUAL_SHARES = 1e6;

    function current(IMorphoBlue morpho, bytes32 id)
        internal
        view
        returns (uint256 supplyAssets, uint256 supplyShares, uint256 borrowAssets)
    {
        Market memory market = morpho.market(id);
        supplyAssets = market.totalSupplyAssets;
        supplyShares = market.totalSupplyShares;
        borrowAssets = market.totalBorrowAssets;
        MarketParams memory params = morpho.idToMarketParams(id);
        uint256 elapsed = block.timestamp - market.lastUpdate;
        if (elapsed == 0 || borrowAssets == 0 || params.irm == address(0)) return (supplyAssets, supplyShares, borrowAssets);
        uint256 first = IInterestRateModel(params.irm).borrowRateView(params, market) * elapsed;
        uint256 second = first.mulDiv(first, 2 * WAD);
        uint256 third = second.mulDiv(first, 3 * WAD);
        uint256 interest = borrowAssets.mulDiv(first + second + third, WAD);
        supplyAssets += interest;
        borrowAssets += interest;
        uint256 fee = interest.mulDiv(market.fee, WAD);
        supplyShares += fee.mulDiv(supplyShares + VIRTUAL_SHARES, supplyAssets - fee + 1);
    }

    function supplyOf(IMorphoBlue morpho, bytes32 id, address user) internal view returns (uint256) {
        (uint256 shares,,) = morpho.position(id, user);
        (uint256 supplyAssets, uint256 supplyShares,) = current(morpho, id);
        return shares.mulDiv(supplyAssets + 1, supplyShares + VIRTUAL_SHARES);
    }

    /// @dev What the user can take out now.
    function availableTo(IMorphoBlue morpho, bytes32 id, address user) internal view returns (uint256) {
        (uint256 supplyAssets,, uint256 borrowAssets) = current(morpho, id);
        return Math.min(supplyOf(morpho, id, user), supplyAssets - borrowAssets);
    }
}
